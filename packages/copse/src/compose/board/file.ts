/** The file of a SQLite board, its snapshots, and putting one of them in its place. */

import { existsSync } from 'node:fs';
import path from 'node:path';

import { BoardUnavailable } from '../../board/port.ts';
import type { Snapshot } from '../../board/rules/snapshots.ts';
import {
  type BoardContent,
  contentOf,
  listSnapshots,
  putInPlace,
  snapshotFile,
} from '../../board/sqlite/snapshots.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { type Surroundings, requireRepository, settingsOf } from '../open.ts';
import { runningText, stopSteps, whoRuns } from './who-runs.ts';

export interface BoardFile {
  readonly file: string;
  readonly home: string;
}

export async function requireBoardFile(surroundings: Surroundings): Promise<BoardFile> {
  const repository = requireRepository(surroundings);
  const { address } = await settingsOf(repository, surroundings);
  if (address.engine === 'sqlite') return { file: address.file, home: repository.home };
  throw new BoardUnavailable(
    'The board is on a PostgreSQL server, so Copse has no snapshots of it.',
    'copse import board.jsonl # to import an export into an empty board; or restore a dump with pg_restore',
  );
}

export interface KnownSnapshot extends Snapshot {
  readonly content: BoardContent;
}

/** Newest first. */
export function snapshotsOf({ file }: BoardFile): readonly KnownSnapshot[] {
  return listSnapshots(file).map(({ name, at, reason }) => {
    return { name, at, reason, content: contentOf(snapshotFile(file, name)) };
  });
}

/** A name of a snapshot, or a file. */
export function findSnapshot({ file }: BoardFile, text: string, cwd: string): string | undefined {
  const places = [snapshotFile(file, path.basename(text)), path.resolve(cwd, text)];
  return places.find((place) => existsSync(place) && place !== file);
}

/** Undefined when nothing of this clone uses the board. */
export async function whoUses({ home }: Pick<BoardFile, 'home'>): Promise<BoardUse | undefined> {
  const running = await whoRuns(home);
  const text = runningText(running);
  return text === undefined ? undefined : { text, stop: stopSteps(running) };
}

interface BoardUse {
  readonly text: string;
  /** What ends it, for a person. */
  readonly stop: readonly [string, ...string[]];
}

/** The folder to which the present board was moved; null when there was none. */
export async function restoreBoard({ file }: BoardFile, from: string, at: Timestamp): Promise<string | null> {
  const content = contentOf(from);
  if (content.kind === 'unreadable')
    throw new BoardUnavailable(
      `${from} is not a board that this Copse can use: ${content.reason}. Nothing was changed.`,
      'copse board restore',
    );
  return putInPlace(file, from, at);
}
