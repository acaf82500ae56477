/** Moves the board of a repository between SQLite and PostgreSQL. */

import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

import { type BoardMove, moveBoard } from '../../board/move-board.ts';
import { type BoardAddress, openEngine } from '../../board/open.ts';
import { BoardUnavailable } from '../../board/port.ts';
import { migrate } from '../../board/sql/migrate.ts';
import type { Engine } from '../../board/sql/engine.ts';
import { movedOf } from '../../board/sql/moved.ts';
import { setAside } from '../../board/sqlite/snapshots.ts';
import { type Refused, refused } from '../../kernel/decision.ts';
import { type Timestamp, drawId } from '../../kernel/ids.ts';
import { type Surroundings, boardFile, requireRepository, settingsOf } from '../open.ts';
import { whoUses } from './file.ts';

export type MovedTo =
  | (Extract<BoardMove, { kind: 'moved' }> & {
      readonly from: string;
      readonly to: string;
      /** Where an older board that was in the file is now. */
      readonly aside: string | null;
    })
  | Refused;

/** `to`: a PostgreSQL URL, or `sqlite` for the file of the repository. */
export async function moveBoardTo(surroundings: Surroundings, to: string, at: Timestamp): Promise<MovedTo> {
  const repository = requireRepository(surroundings);
  const running = await whoUses(repository);
  if (running !== undefined)
    return refused(
      'wrong_status',
      `${running.text}, so the board cannot move. Nothing was changed.`,
      ...running.stop,
    );
  const { address, policy } = await settingsOf(repository, surroundings);
  const file = boardFile(repository);
  const target: BoardAddress = to === 'sqlite' ? { engine: 'sqlite', file } : { engine: 'postgres', url: to };
  if (isSame(address, target)) return refused('invalid', 'The board is there already.', 'copse doctor');
  if (address.engine === 'sqlite' && !existsSync(address.file))
    return refused('not_found', `There is no board at ${address.file}.`, 'copse add "A task"');
  const from = await openEngine(address, policy.board);
  try {
    const aside = target.engine === 'sqlite' ? await makeRoom(file, policy.board, at) : null;
    const engine = await openEngine(target, policy.board);
    try {
      const fresh = { id: drawId('bo-', Math.random), at };
      await migrate(engine, fresh, { patienceMs: policy.board.writePatienceMs });
      const moved = await moveBoard(from, engine);
      return moved.kind === 'moved' ? { ...moved, from: from.location, to: engine.location, aside } : moved;
    } finally {
      await engine.close();
    }
  } finally {
    await from.close();
  }
}

function isSame(one: BoardAddress, other: BoardAddress): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A board that moved away from the file before is set aside. */
async function makeRoom(
  file: string,
  policy: Parameters<typeof openEngine>[1],
  at: Timestamp,
): Promise<string | null> {
  mkdirSync(path.dirname(file), { recursive: true });
  if (!existsSync(file)) return null;
  const there = await openEngine({ engine: 'sqlite', file }, policy);
  try {
    if (!(await hasMoved(there))) return null;
  } finally {
    await there.close();
  }
  return setAside(file, at);
}

async function hasMoved(engine: Engine): Promise<boolean> {
  if (!(await engine.hasBoard(engine.db))) return false;
  const moved = await movedOf(engine);
  if (moved !== undefined && !moved.isDone)
    throw new BoardUnavailable(
      `A move of the board at ${engine.location} to ${moved.location} was interrupted.`,
      'copse board migrate --to "…" # to finish that move first, with its address',
    );
  return moved !== undefined;
}
