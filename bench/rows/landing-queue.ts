/**
 * Landing through the queue, without checks: journal, board and all. The peer lands the same branches with `git rebase` and a
 * fast-forward in a worktree, as a person or a simple tool would, in turns with it.
 *
 *   COPSE_BENCH_REPOSITORY=<path> npm run bench -- landing    also on a clone of a real repository
 *
 * How many gits are started is counted in a run of its own, because counting takes time.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { lead } from '../../packages/copse/src/queue/lead/leadership.ts';
import { leadQueue } from '../../packages/copse/src/queue/lead/lead-queue.ts';
import { type QueueMemory, newQueueMemory } from '../../packages/copse/src/queue/lead/memory.ts';
import type { RunContext } from '../../packages/copse/src/queue/context.ts';
import { openRun } from '../../packages/copse/src/compose/run/run.ts';
import { type BranchName, brand } from '../../packages/copse/src/kernel/ids.ts';
import type { MergeMethod } from '../../packages/copse/src/queue/rules/landing.ts';
import { gitsStartedBy } from '../../test/support/git/git-starts.ts';
import { queueCommit } from '../../test/support/queue/queued.ts';
import { COMMITS_PER_BRANCH, SHARED_FILES, makeBranches } from '../branches.ts';
import { run } from '../commands.ts';
import { type Size, newSizedRepository } from '../repositories.ts';
import { type Bench, type Result, type Row, inMs, median } from '../row.ts';

/** Each lands a share of the branches, all of which wait when it begins. */
const ROUNDS = 5;
/** Of the peer, which is slow. */
const PEERS_PER_ROUND = 3;

export const landingQueue: Row = {
  name: 'landing through the queue',
  timeoutMs: 1_200_000,
  async measure(bench) {
    const results: Result[] = [];
    const M = await newWorld(bench, 'M', await newSizedRepository(bench, 'M'));
    results.push(...(await measureBoth(M, { goal: 25, limits: { rebase: 45, merge: 84 } })));
    results.push(await measureAlone(bench, M), ...(await measureStarts(bench, M)), countLeft(M));
    if (!bench.isQuick) {
      const L = await newWorld(bench, 'L', await newSizedRepository(bench, 'L'));
      results.push(...(await measureBoth(L, { goal: 80, limits: { rebase: 169, merge: null } })));
      results.push(countLeft(L));
    }
    return results;
  },
};

export const landingGiven: Row = {
  name: 'landing through the queue of a given repository',
  timeoutMs: 1_200_000,
  async measure(bench) {
    const given = process.env['COPSE_BENCH_REPOSITORY'];
    if (given === undefined || given === '') return [];
    const world = await newWorld(bench, path.basename(given), await cloneOf(bench, given));
    const results = await measureBoth(world, { goal: 20, limits: { rebase: 37, merge: null } });
    return [...results, countLeft(world)];
  },
};

interface World {
  readonly name: Size | (string & {});
  readonly repository: string;
  /** Where the peer works. */
  readonly worktree: string;
  readonly heads: readonly string[];
}

async function newWorld(bench: Bench, name: World['name'], repository: string): Promise<World> {
  const heads = await makeBranches(repository, bench.isQuick ? 50 : 200);
  const worktree = path.join(await bench.newFolder(), 'peer');
  run(['git', 'worktree', 'add', '--quiet', '--detach', worktree, 'main'], repository);
  return { name, repository, worktree, heads };
}

/** With `main` where its HEAD is. Objects are borrowed, and nothing is checked out. */
async function cloneOf(bench: Bench, given: string): Promise<string> {
  const folder = path.join(await bench.newFolder(), 'clone');
  run(['git', 'clone', '--quiet', '--shared', '--no-checkout', path.resolve(given), folder], '.');
  const head = run(['git', 'rev-parse', '--verify', 'HEAD'], folder).trim();
  run(['git', 'update-ref', '--no-deref', 'HEAD', head], folder);
  run(['git', 'branch', '--force', 'main', head], folder);
  for (const setting of ['user.name=Bench', 'user.email=bench@example.invalid', 'gc.auto=0']) {
    const [name = '', value = ''] = setting.split('=');
    run(['git', 'config', name, value], folder);
  }
  return folder;
}

interface Figures {
  readonly goal: number;
  readonly limits: Readonly<Record<'rebase' | 'merge', number | null>>;
}

async function measureBoth(world: World, { goal, limits }: Figures): Promise<readonly Result[]> {
  const rebased = await landAll(world, 'rebased', 'rebase');
  const merged = await landAll(world, 'merged', 'merge');
  const trees = [rebased, merged].map(({ target }) => gitLine(world, 'rev-parse', `${target}^{tree}`));
  const differ = trees[0] === trees[1] ? undefined : 'rebased and merged, the trees differ';
  return [
    lineOf(world, 'rebased', { ...rebased, goal, limit: limits.rebase, broken: rebased.broken ?? differ }),
    lineOf(world, 'merged', { ...merged, goal, limit: limits.merge, broken: merged.broken ?? differ }),
  ];
}

/** As where git's output cannot be made to come at once: each merge is a git of its own. */
async function measureAlone(bench: Bench, world: World): Promise<Result> {
  const folder = path.join(await bench.newFolder(), 'only');
  mkdirSync(folder);
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  symlinkSync(git, path.join(folder, 'git'));
  const landed = await landAll(world, 'alone', 'rebase', { searchPath: folder });
  return lineOf(world, 'rebased, no git that stays for merges', { ...landed, goal: 8, limit: null });
}

interface Landed {
  readonly target: string;
  readonly ours: number;
  readonly theirs: number;
  readonly broken: string | undefined;
}

function lineOf(
  { name }: World,
  how: string,
  { ours, theirs, broken, goal, limit }: Landed & { readonly goal: number; readonly limit: number | null },
): Result {
  return {
    what: `${name}: a landing of ${COMMITS_PER_BRANCH} commits, ${how}, with journal and board`,
    measured: `${inMs(ours)}, ${Math.round(1_000 / ours)} a second`,
    against: `git rebase and fast-forward in a worktree: ${inMs(theirs)}`,
    figure: theirs / ours,
    goal: { atLeast: goal, unit: '×' },
    limit,
    broken,
  };
}

/** Ours and the peer have a target each. */
async function landAll(
  world: World,
  target: string,
  method: MergeMethod,
  { searchPath = process.env['PATH'] ?? '' }: { readonly searchPath?: string } = {},
): Promise<Landed> {
  const { heads } = world;
  const plain = `plain-${target}`;
  gitLine(world, 'branch', '--force', plain, 'main');
  const queue = await openQueue(world, target, method);
  const [oursMs, theirsMs]: [number[], number[]] = [[], []];
  const share = heads.length / ROUNDS;
  for (let round = 0; round < ROUNDS; round += 1) {
    const some = heads.slice(round * share, (round + 1) * share);
    await queue.submit(some);
    const tookMs = await withPath(searchPath, () => inTime(() => queue.land()));
    // The first begins with processes that are not there yet, and a board that was not read.
    if (round > 0) oursMs.push(tookMs / some.length);
    for (const head of some.slice(0, PEERS_PER_ROUND))
      theirsMs.push(await inTime(() => landPlainly(world, plain, head)));
  }
  await queue.close();
  const commits = Number(gitLine(world, 'rev-list', '--count', '--no-merges', `main..${target}`));
  const expected = heads.length * COMMITS_PER_BRANCH;
  const isWhole = queue.landed() === heads.length && commits === expected;
  const broken = isWhole
    ? undefined
    : `${queue.landed()} of ${heads.length} landed, ${target} has ${commits} commits of ${expected}`;
  return { target, ours: median(oursMs), theirs: median(theirsMs), broken };
}

interface Queue {
  submit(heads: readonly string[]): Promise<void>;
  /** Everything that was submitted. */
  land(): Promise<void>;
  landed(): number;
  close(): Promise<void>;
}

async function openQueue(world: World, name: string, method: MergeMethod): Promise<Queue> {
  gitLine(world, 'branch', '--force', name, 'main');
  const opened = await openRun({ cwd: world.repository, env: process.env }, { asNode: true });
  const context = { ...opened.context, landing: { ...opened.context.landing, method } };
  const target = brand<BranchName>(name);
  const memory = newQueueMemory(context);
  let landed = 0;
  return {
    async submit(heads) {
      for (const head of heads) await queueCommit(context, { title: `Branch at ${head}`, head, target });
    },
    land: () => landQueued(context, { target, memory, onLanded: () => (landed += 1) }),
    landed: () => landed,
    close: () => opened.close(),
  };
}

async function landQueued(
  context: RunContext,
  {
    target,
    memory,
    onLanded,
  }: { readonly target: BranchName; readonly memory: QueueMemory; readonly onLanded: () => void },
): Promise<void> {
  const { signal } = new AbortController();
  await lead(context, target, (lead) =>
    leadQueue(context, lead, { memory, signal, onLanded, onRejected: async () => {}, onNote: () => {} }),
  );
}

function landPlainly({ worktree }: World, target: string, head: string): void {
  run(['git', 'checkout', '--quiet', '--detach', head], worktree);
  run(['git', 'rebase', '--quiet', target], worktree);
  run(['git', 'push', '--quiet', '.', `HEAD:refs/heads/${target}`], worktree);
}

/** Until the first files have been changed twice, there is nothing to merge. */
const WARM_UP = SHARED_FILES + 5;
const COUNTED = 20;

/** Submitted and landed one after another, so that nothing is shared out among many. */
async function measureStarts(bench: Bench, world: World): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const { what, isAlone, atMost } of [
    { what: 'gits started per landing', isAlone: false, atMost: 0 },
    {
      what: 'gits started per landing, none that stays for merges',
      isAlone: true,
      atMost: COMMITS_PER_BRANCH + 1,
    },
  ]) {
    const queue = await openQueue(world, `counted-${atMost}`, 'rebase');
    const landOne = async (head: string) => {
      await queue.submit([head]);
      await queue.land();
    };
    const count = async (heads: readonly string[]) =>
      gitsStartedBy(
        await bench.newFolder(),
        async () => {
          for (const head of heads) await landOne(head);
        },
        { isAlone },
      );
    await count(world.heads.slice(0, WARM_UP));
    const starts = await count(world.heads.slice(WARM_UP, WARM_UP + COUNTED));
    await queue.close();
    const kinds = [...new Set(starts.map((argv) => argv.split(' ').find((one) => !one.startsWith('-'))))];
    results.push({
      what: `${world.name}: ${what} through the queue, one at a time`,
      measured: `${starts.length} for ${COUNTED}${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`,
      against: `${COMMITS_PER_BRANCH} commits each`,
      figure: starts.length / COUNTED,
      goal: { atMost, unit: '' },
      limit: 0,
      broken: queue.landed() === WARM_UP + COUNTED ? undefined : `${queue.landed()} landed`,
    });
  }
  return results;
}

function countLeft(world: World): Result {
  const left = gitLine(world, 'fsck', '--unreachable', '--connectivity-only')
    .split('\n')
    .filter((line) => line.startsWith('unreachable')).length;
  return {
    what: `${world.name}: objects left behind by landings that nothing leads to`,
    measured: String(left),
    against: '',
    figure: left,
    goal: { atMost: 0, unit: '' },
    limit: 0,
  };
}

function gitLine({ repository }: World, ...argv: readonly string[]): string {
  return run(['git', ...argv], repository).trim();
}

async function inTime(work: () => unknown): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

async function withPath<T>(searchPath: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['PATH'];
  process.env['PATH'] = searchPath;
  try {
    return await work();
  } finally {
    process.env['PATH'] = before;
  }
}
