/**
 * How long it takes until a queue with checks is empty, against one branch after another: rebase in a worktree, run the same
 * check, fast-forward if it is green. Real git, real processes; the check sleeps, so that what is measured is how well the slots
 * are used and not how many cores there are. Times are scaled: a check of a minute is one of 1.5 s here.
 *
 * Two of 60 branches are red. Every commit that the target ever pointed at is looked at by plain git.
 */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { giveUpLanding } from '../../packages/copse/src/queue/lead/hand-back.ts';
import { lead } from '../../packages/copse/src/queue/lead/leadership.ts';
import { leadQueue } from '../../packages/copse/src/queue/lead/lead-queue.ts';
import { newQueueMemory } from '../../packages/copse/src/queue/lead/memory.ts';
import { openRun } from '../../packages/copse/src/compose/run/run.ts';
import { type BranchName, type TaskId, brand } from '../../packages/copse/src/kernel/ids.ts';
import { queueCommit } from '../../test/support/queue/queued.ts';
import { makeBranches } from '../branches.ts';
import { run } from '../commands.ts';
import { newSizedRepository } from '../repositories.ts';
import { type Bench, type Result, type Row, inMs } from '../row.ts';

/** One in so many is red; the first of them is in the middle of the first so many. */
const RED_EVERY = 30;

interface Scale {
  readonly branches: number;
  readonly checkSeconds: number;
  /** By slots, how many times faster it is to be. */
  readonly goals: Readonly<Record<number, number>>;
}

const FULL: Scale = { branches: 60, checkSeconds: 1.5, goals: { 1: 1, 4: 3.5, 8: 3.5 } };
const QUICK: Scale = { branches: 30, checkSeconds: 0.5, goals: { 4: 2 } };

export const queueMakespan: Row = {
  name: 'queue-makespan',
  timeoutMs: 600_000,
  async measure(bench) {
    const scale = bench.isQuick ? QUICK : FULL;
    const world = await newWorld(bench, scale);
    const plainMs = landPlainly(world);
    const results: Result[] = [];
    for (const [slots, goal] of Object.entries(scale.goals))
      results.push(lineOf(world, await landQueued(world, Number(slots)), { goal, plainMs }));
    return results;
  },
};

interface World {
  readonly repository: string;
  readonly worktree: string;
  readonly heads: readonly string[];
  readonly red: ReadonlySet<string>;
  readonly check: string;
}

async function newWorld(bench: Bench, { branches, checkSeconds }: Scale): Promise<World> {
  const repository = await newSizedRepository(bench, 'S');
  const plain = await makeBranches(repository, branches);
  const heads = plain.map((head, at) => (at % RED_EVERY === RED_EVERY / 2 ? spoil(repository, head) : head));
  const red = new Set(heads.filter((head, at) => head !== plain[at]));
  const worktree = path.join(await bench.newFolder(), 'peer');
  run(['git', 'worktree', 'add', '--quiet', '--detach', worktree, 'main'], repository);
  const check = `sleep ${checkSeconds}; test -z "$(ls | grep '^${RED}')"`;
  return { repository, worktree, heads, red, check };
}

const RED = 'red-';

/** One more commit, with a file that the check does not like. */
function spoil(repository: string, head: string): string {
  const listed = run(['git', 'ls-tree', head], repository);
  const file = run(['git', 'hash-object', '-t', 'blob', '-w', '/dev/null'], repository).trim();
  const { status, stdout } = spawnSync('git', ['mktree'], {
    cwd: repository,
    encoding: 'utf8',
    input: `${listed}100644 blob ${file}\t${RED}${head}\n`,
  });
  if (status !== 0) throw new Error('git mktree failed');
  const commit = ['git', 'commit-tree', '-p', head, '-m', 'not so good', stdout.trim()] as const;
  return run([...commit], repository).trim();
}

function landPlainly({ repository, worktree, heads, check }: World): number {
  run(['git', 'branch', '--force', 'plain', 'main'], repository);
  const beganMs = performance.now();
  for (const head of heads) {
    run(['git', 'checkout', '--quiet', '--detach', head], worktree);
    run(['git', 'rebase', '--quiet', 'plain'], worktree);
    if (spawnSync('sh', ['-c', check], { cwd: worktree }).status !== 0) continue;
    run(['git', 'push', '--quiet', '.', 'HEAD:refs/heads/plain'], worktree);
  }
  return performance.now() - beganMs;
}

interface Landed {
  readonly slots: number;
  readonly tookMs: number;
  readonly checks: number;
  readonly broken: string | undefined;
}

async function landQueued(world: World, slots: number): Promise<Landed> {
  const { repository, heads, red, check } = world;
  const target = brand<BranchName>(`slots-${slots}`);
  run(['git', 'branch', '--force', target, 'main'], repository);
  const log = path.join(repository, '..', `checks of ${slots}`);
  writeFileSync(log, '');
  const checks = { all: { command: `echo >>'${log}'; ${check}`, timeout: '60s' } };
  writeFileSync(path.join(repository, 'copse.yml'), JSON.stringify({ landing: { slots, checks } }));
  const opened = await openRun({ cwd: repository, env: process.env }, { asNode: true });
  const { context } = opened;
  const [landed, blamed]: [TaskId[], TaskId[]] = [[], []];
  const tasks = new Map<TaskId, string>();
  try {
    for (const head of heads)
      tasks.set(await queueCommit(context, { title: `Branch at ${head}`, head, target }), head);
    const beganMs = performance.now();
    await lead(context, target, (lead) =>
      leadQueue(context, lead, {
        memory: newQueueMemory(context),
        signal: new AbortController().signal,
        onLanded: ({ task }) => void landed.push(task),
        onRejected: async (landing, cause) => {
          blamed.push(landing.task);
          await giveUpLanding(context, landing, cause);
        },
        onNote: () => {},
      }),
    );
    const tookMs = performance.now() - beganMs;
    const wrongly = blamed.filter((task) => !red.has(tasks.get(task) ?? ''));
    const isWhole = landed.length === heads.length - red.size && blamed.length === red.size;
    const broken =
      wrongly.length > 0 || !isWhole
        ? `${landed.length} landed, ${blamed.length} handed back, ${wrongly.length} of them without reason`
        : wasRed(repository, target);
    return { slots, tookMs, checks: run(['cat', log], repository).length, broken };
  } finally {
    await opened.close();
  }
}

/** Whatever the target pointed at, by git's own record. */
function wasRed(repository: string, target: string): string | undefined {
  const tips = run(['git', 'reflog', 'show', '--format=%H', `refs/heads/${target}`], repository).split('\n');
  const red = tips.filter(
    (tip) => tip !== '' && run(['git', 'ls-tree', tip], repository).includes(`\t${RED}`),
  );
  if (tips.length < 3) return `${target} moved without a record`;
  return red.length === 0 ? undefined : `${target} was red at ${red.join(', ')}`;
}

function lineOf(
  { heads }: World,
  { slots, tookMs, checks, broken }: Landed,
  { goal, plainMs }: { readonly goal: number; readonly plainMs: number },
): Result {
  return {
    what: `${heads.length} branches with checks, ${slots} ${slots === 1 ? 'slot' : 'slots'}`,
    measured: `${inMs(tookMs)}, ${(checks / heads.length).toFixed(2)} checks a branch`,
    against: `one after another: ${inMs(plainMs)}`,
    figure: plainMs / tookMs,
    goal: { atLeast: goal, unit: '×' },
    limit: null,
    broken,
  };
}
