/**
 * Moves a board to another engine: freeze the old one → export → import into the new one, which is one transaction → read the
 * new one back and compare every line → mark the old one as moved. Killed at any step, the same command goes on; a failure
 * takes the freeze back.
 */

import { type Refused, refused } from '../kernel/decision.ts';
import type { TaskId } from '../kernel/ids.ts';
import { named } from '../kernel/text.ts';
import { exportBoard, importBoard, readExport } from './export.ts';
import { migrations } from './migrations/index.ts';
import type { BoardLine } from './rules/board-line.ts';
import type { Engine } from './sql/engine.ts';
import { type Moved, finishMove, freeze, movedOf, thaw } from './sql/moved.ts';
import { Reader } from './sql/reader.ts';
import { Statements, askOf } from './sql/statements.ts';

export type BoardMove =
  | { readonly kind: 'moved'; readonly records: number; readonly events: number }
  | Refused;

/** The new board exists, and has the version of this Copse. */
export async function moveBoard(from: Engine, to: Engine): Promise<BoardMove> {
  const begun = await movedOf(from);
  const refusal = begun ? refuseOther(from, to, begun) : await refuseInUse(from);
  if (refusal) return refusal;
  if (begun === undefined && (await eventsOn(to)) > 0) return notEmpty(to);
  const frozen = begun ?? (await freeze(from, to.location));
  try {
    const lines = await linesOf(from, frozen.version);
    if ((await eventsOn(to)) === 0) {
      const read = await readExport(each(lines));
      if ('reason' in read) throw new Error(read.reason);
      await importBoard(to, new Statements(to), read);
    }
    const difference = firstDifference(lines, await linesOf(to, frozen.version));
    if (difference !== undefined) throw new Error(`The copy differs from the board: ${difference}`);
    await finishMove(from);
    const count = (kind: BoardLine['line']) => lines.filter(({ line }) => line === kind).length;
    return { kind: 'moved', records: count('record'), events: count('event') };
  } catch (error) {
    await thaw(from, frozen);
    throw error;
  }
}

function refuseOther(from: Engine, to: Engine, { location, isDone }: Moved): Refused | undefined {
  if (location === to.location && !isDone) return undefined;
  const what = isDone
    ? `The board at ${from.location} moved to ${location} already.`
    : `A move of the board at ${from.location} to ${location} was interrupted.`;
  return refused('wrong_status', what, 'copse doctor');
}

/** Their runners would find no board. Work by hand goes on with the new one. */
async function refuseInUse(from: Engine): Promise<Refused | undefined> {
  const { version } = await from.db.selectFrom('board').select('version').executeTakeFirstOrThrow();
  if (version !== migrations.length)
    return refused('wrong_status', `The board at ${from.location} has version ${version}.`, 'copse list');
  const held = await new Reader(askOf(from.db, from.dialect), { locksRows: false }).held();
  const ids = held.flatMap(({ task: { id, state } }): readonly TaskId[] =>
    state.status === 'in_progress' && !state.claim.isByHand ? [id] : [],
  );
  const [first, ...others] = ids.map((id) => `copse pause ${id}`);
  if (first === undefined) return undefined;
  return refused(
    'wrong_status',
    `Agents work on ${named(ids)}, so the board cannot move. Nothing was changed. First stop all orchestrators: Ctrl+C in their terminals.`,
    first,
    ...others,
  );
}

function notEmpty(to: Engine): Refused {
  return refused(
    'wrong_status',
    `The board at ${to.location} is not empty, so nothing was moved there.`,
    "copse board migrate --to 'postgres://host/database?schema=another' # to use another schema, or name another database",
  );
}

async function eventsOn(engine: Engine): Promise<number> {
  return (await engine.db.selectFrom('board').select('last_event').executeTakeFirstOrThrow()).last_event;
}

/** As an export has them. The old board's version says only that it is frozen. */
async function linesOf(engine: Engine, version: number): Promise<readonly BoardLine[]> {
  const lines: BoardLine[] = [];
  await engine.snapshot((db) =>
    exportBoard(db, async (line) => {
      const written = line.line === 'board' ? { ...line, version } : line;
      lines.push(JSON.parse(JSON.stringify(written)) as BoardLine);
    }),
  );
  return lines;
}

async function* each(lines: readonly BoardLine[]): AsyncGenerator<BoardLine> {
  yield* lines;
}

/** Without the first line: each board has an id of its own. */
function firstDifference(one: readonly BoardLine[], other: readonly BoardLine[]): string | undefined {
  const [texts, others] = [one, other].map((lines) => lines.slice(1).map((line) => JSON.stringify(line)));
  const at = texts?.findIndex((text, index) => text !== others?.[index]) ?? -1;
  if (at >= 0) return `line ${at + 2} is ${(others?.[at] ?? 'missing').slice(0, 200)}.`;
  return texts?.length === others?.length ? undefined : 'it has more lines.';
}
