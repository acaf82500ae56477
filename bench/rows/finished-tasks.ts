/** What a long history costs: the same live tasks on a board with few and on one with many finished ones. */

import { claimNext } from '../../packages/copse/src/tasks/act/claims.ts';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import type { Board } from '../../packages/copse/src/board/port.ts';
import {
  type EngineName,
  claimRequest,
  contextOf,
  engines,
  fill,
  newAddress,
  openDurably,
} from '../boards.ts';
import { type Bench, type Result, type Row, inMs, interleave } from '../row.ts';

const LIVE = 200;
const FEW = 1_000;
const MANY = 100_000;
/** Several lists make one sample: a single one is too short to be told from noise. */
const LISTS_PER_SAMPLE = 5;

export const finishedTasks: Row = {
  name: 'finished tasks',
  async measure(bench) {
    const results: Result[] = [];
    for (const engine of engines) results.push(...(await measureOn(engine, bench)));
    return results;
  },
};

async function measureOn(engine: EngineName, bench: Bench): Promise<readonly Result[]> {
  const few = await filledBoard(engine, bench, FEW);
  const many = await filledBoard(engine, bench, MANY);
  const listMs = await interleave(
    { few: () => list(few), many: () => list(many) },
    { repetitions: bench.isQuick ? 25 : 100, warmUps: 5 },
  );
  const claimMs = await interleave(
    { few: () => claim(few), many: () => claim(many) },
    { repetitions: bench.isQuick ? 50 : 150, warmUps: 10 },
  );
  await Promise.all([few.close(), many.close()]);
  return [
    result(`list, ${engine}`, { few: listMs.few / LISTS_PER_SAMPLE, many: listMs.many / LISTS_PER_SAMPLE }),
    result(`claim, ${engine}`, claimMs),
  ];
}

function result(what: string, { few, many }: { readonly few: number; readonly many: number }): Result {
  return {
    what: `${what}, ${LIVE} live and ${MANY} finished`,
    measured: inMs(many),
    against: `${FEW} finished: ${inMs(few)}`,
    figure: many / few,
    goal: { atMost: 1.5, unit: '×' },
    limit: 1,
  };
}

async function filledBoard(engine: EngineName, bench: Bench, done: number): Promise<Board> {
  const address = await newAddress(bench, engine);
  await fill(address, { ready: LIVE, done });
  return openDurably(address);
}

/** What `copse list` asks. */
async function list(board: Board): Promise<void> {
  const limit = defaultPolicy.list.recentlyFinished;
  for (let times = 0; times < LISTS_PER_SAMPLE; times += 1) {
    const live = await board.tasks({ finished: false, order: 'urgent' });
    const finished = await board.tasks({ finished: true, order: 'recent', limit });
    if (live.length !== LIVE || finished.length !== limit) throw new Error('The list is not complete');
  }
}

async function claim(board: Board): Promise<void> {
  if ((await claimNext(contextOf(board), claimRequest('1'))) === undefined)
    throw new Error('Nothing to claim');
}
