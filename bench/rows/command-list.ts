import { fill } from '../boards.ts';
import { bareNode, boardFileOf, launcher, newRepository, run } from '../commands.ts';
import { type Bench, type Result, type Row, inMs, interleave } from '../row.ts';

const TASKS = 1_000;
const LIVE = 200;
const FEW_FINISHED = 1_000;
const MANY_FINISHED = 100_000;

export const commandList: Row = {
  name: 'list as a command',
  async measure(bench) {
    return [await againstBareNode(bench), await withLongHistory(bench)];
  },
};

async function againstBareNode(bench: Bench): Promise<Result> {
  const repository = await filledRepository(bench, { ready: TASKS, done: 0 });
  const { tasks } = JSON.parse(run([launcher, 'list', '--json'], repository)) as { tasks: unknown[] };
  const timesMs = await interleave(
    { node: () => run(bareNode, repository), list: () => run([launcher, 'list'], repository) },
    { repetitions: bench.isQuick ? 15 : 50 },
  );
  return {
    what: `./copse list, ${TASKS} tasks`,
    measured: inMs(timesMs.list),
    against: `node -e 0: ${inMs(timesMs.node)}`,
    figure: timesMs.list / timesMs.node,
    goal: { atMost: 3, unit: '×' },
    limit: 1.4,
    broken: tasks.length === TASKS ? undefined : `it listed ${tasks.length} of ${TASKS} tasks`,
  };
}

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

async function filledRepository(bench: Bench, tasks: { ready: number; done: number }): Promise<string> {
  const repository = await newRepository(bench);
  await fill({ engine: 'sqlite', file: await boardFileOf(repository) }, tasks);
  return repository;
}
