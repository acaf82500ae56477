/** What people run all day, against a Node that does nothing, in a repository with and without a copse.yml. */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { bareNode, filledRepository, launcher, run } from '../commands.ts';
import { type Bench, type Result, type Row, inMs, interleave } from '../row.ts';

const TASKS = 1_000;
/** Those that `fill` makes first. */
const [WORKED_ON, QUEUED, READY] = ['cp-00000', 'cp-00001', 'cp-00002'];

const goals = {
  list: { command: ['list'], atMost: 2 },
  status: { command: ['status'], atMost: 2.5 },
  show: { command: ['show', READY], atMost: 2 },
  why: { command: ['why', READY], atMost: 3 },
  queue: { command: ['queue'], atMost: 3 },
  worktrees: { command: ['worktrees'], atMost: 3 },
  agents: { command: ['agents'], atMost: 3 },
} as const;
type Name = keyof typeof goals;
const names = Object.keys(goals) as Name[];

/** Why a goal may not hold. */
const reasons: Partial<Record<Name, string>> = {
  list: 'Node takes 28 ms, the launcher 2, loading 6, reading a thousand tasks 4, printing them 3, and all the rest 10.',
  worktrees: 'to start a shell with two gits for each worktree takes Node 2 to 5 ms.',
};

const CONFIGURATION = `
agents:
  builder:
    command: ./agent.sh
    max: 2
workspace:
  copy: [.env]
landing:
  target: main
  checks:
    test: npm test
`;

export const commandEveryday: Row = {
  name: 'everyday commands',
  timeoutMs: 300_000,
  async measure(bench) {
    return [...(await measureAll(bench, null)), ...(await measureAll(bench, CONFIGURATION))];
  },
};

async function measureAll(bench: Bench, configuration: string | null): Promise<readonly Result[]> {
  const repository = await busyRepository(bench, configuration);
  const ask = (name: Name, ...options: readonly string[]) =>
    run([launcher, ...goals[name].command, ...options], repository);
  const broken = findBroken((name) => JSON.parse(ask(name, '--json')) as Printed);
  const timesMs = await interleave(
    {
      node: () => run(bareNode, repository),
      ...(Object.fromEntries(names.map((name) => [name, () => ask(name)])) as Record<Name, () => string>),
    },
    { repetitions: bench.isQuick ? 15 : 50 },
  );
  return names.map((name) => ({
    what: `./copse ${name}, ${TASKS} tasks${configuration === null ? '' : ', copse.yml'}`,
    measured: inMs(timesMs[name]),
    against: `node -e 0: ${inMs(timesMs.node)}`,
    figure: timesMs[name] / timesMs.node,
    goal: { atMost: goals[name].atMost, unit: '×' },
    limit: null,
    broken,
    why: reasons[name],
  }));
}

/** One task that a person works on, one that waits to land, and many that are ready. */
async function busyRepository(bench: Bench, configuration: string | null): Promise<string> {
  const repository = await filledRepository(bench, { ready: TASKS, done: 0 });
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid'];
  const commit = (folder: string) =>
    run(['git', ...identity, 'commit', '--quiet', '--allow-empty', '-m', 'feat: something'], folder);
  run(['git', 'symbolic-ref', 'HEAD', 'refs/heads/main'], repository);
  commit(repository);
  if (configuration !== null) {
    await writeFile(path.join(repository, 'copse.yml'), configuration);
    run([launcher, 'config', 'accept', '--yes'], repository);
  }
  for (const task of [WORKED_ON, QUEUED]) {
    run([launcher, 'work', task], repository);
    commit(path.join(repository, '.worktrees', task));
  }
  run([launcher, 'finish', QUEUED], repository);
  return repository;
}

interface Printed {
  readonly counts: Readonly<Record<string, number>>;
  readonly tasks: readonly unknown[];
  readonly worktrees: readonly unknown[];
  readonly running: readonly unknown[];
  readonly queues: readonly { readonly entries: readonly unknown[] }[];
}

/** A command that fails or shows nothing would be quick. */
function findBroken(ask: (name: Name) => Printed): string | undefined {
  for (const name of ['show', 'why'] as const) ask(name);
  const counts = {
    tasks: ask('list').tasks.length,
    ready: ask('status').counts['ready'],
    queued: ask('queue').queues.flatMap(({ entries }) => entries).length,
    worktrees: ask('worktrees').worktrees.length,
    running: ask('agents').running.length,
  };
  const expected = { tasks: TASKS, ready: TASKS - 2, queued: 1, worktrees: 2, running: 1 };
  const isRight = JSON.stringify(counts) === JSON.stringify(expected);
  return isRight ? undefined : `they showed ${JSON.stringify(counts)}, not ${JSON.stringify(expected)}`;
}
