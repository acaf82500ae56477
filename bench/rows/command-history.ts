import { filledRepository, launcher, run } from '../commands.ts';
import { type Bench, type Result, type Row, inMs, interleave } from '../row.ts';

const LIVE = 200;
const FEW_FINISHED = 1_000;
const MANY_FINISHED = 100_000;

export const commandHistory: Row = {
  name: 'a command on a long history',
  async measure(bench) {
    return [await withLongHistory(bench)];
  },
};

async function withLongHistory(bench: Bench): Promise<Result> {
  const few = await filledRepository(bench, { ready: LIVE, done: FEW_FINISHED });
  const many = await filledRepository(bench, { ready: LIVE, done: MANY_FINISHED });
  const timesMs = await interleave(
    { few: () => run([launcher, 'list'], few), many: () => run([launcher, 'list'], many) },
    { repetitions: bench.isQuick ? 15 : 50 },
  );
  return {
    what: `./copse list, ${LIVE} live and ${MANY_FINISHED} finished`,
    measured: inMs(timesMs.many),
    against: `${FEW_FINISHED} finished: ${inMs(timesMs.few)}`,
    figure: timesMs.many / timesMs.few,
    goal: { atMost: 1.5, unit: '×' },
    limit: 1,
  };
}
