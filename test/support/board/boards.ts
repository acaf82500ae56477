/** Boards for tests: each on a place of its own, on whichever engine, opened as often as a test likes. */

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';

import { inject } from 'vitest';

import { type BoardAddress, openBoard } from '../../../packages/copse/src/board/open.ts';
import type { Context } from '../../../packages/copse/src/board/context.ts';
import type { Author } from '../../../packages/copse/src/board/rules/event.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { scratchFolder } from '../scratch.ts';

export const engines = ['sqlite', 'postgres'] as const;
export type EngineName = (typeof engines)[number];

export interface BoardPlace extends AsyncDisposable {
  readonly address: BoardAddress;
  /** Another connection, as another process would have one. */
  open(): Promise<Board>;
}

export async function newPlace(engine: EngineName): Promise<BoardPlace> {
  const folder = await mkdtemp(path.join(scratchFolder(), 'copse board ü '));
  const address: BoardAddress =
    engine === 'sqlite'
      ? { engine, file: path.join(folder, 'board.db') }
      : {
          engine,
          url: `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`,
        };
  const opened: Board[] = [];
  return {
    address,
    async open() {
      const openAgain = () => openBoard(address, defaultPolicy, { id: randomUUID(), at: Date.now() });
      // Almost every command finds a board that is there already, and opens it in another way than the first.
      if (opened.length === 0 && engine === 'sqlite') await (await openAgain()).close();
      const board = await openAgain();
      opened.push(board);
      return board;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((board) => board.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const person: Author = { kind: 'person', name: null };

/** `aheadMs` puts the context's clock into the future, past delays and leases. */
export function contextOf(board: Board, by: Author = person, aheadMs = 0): Context {
  return {
    board,
    clock: { now: () => timestamp(Date.now() + aheadMs) },
    random: Math.random,
    policy: defaultPolicy,
    by,
  };
}
