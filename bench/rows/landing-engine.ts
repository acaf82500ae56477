/**
 * The engine of the merge queue alone: branches of three commits each land one after another on a target that moves
 * with every one of them, against `git rebase` and a fast-forward in a worktree, in turns.
 *
 * How many gits are started is counted in a run of its own, by a program called `git` that notes each start.
 */

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { findRepository } from '../../packages/copse/src/git/directory/locate.ts';
import { openMerging } from '../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../packages/copse/src/git/directory/trusted-dir.ts';
import { type CommitId, brand, timestamp } from '../../packages/copse/src/kernel/ids.ts';
import type { MergeMethod } from '../../packages/copse/src/queue/rules/landing.ts';
import { COMMITS_PER_BRANCH as COMMITS, SHARED_FILES, makeBranches } from '../branches.ts';
import { run } from '../commands.ts';
import { type Size, newSizedRepository } from '../repositories.ts';
import { type Bench, type Result, type Row, inMs, median } from '../row.ts';

/** Plain git is so much slower that it takes its turn only after so many. */
const TURN = 10;
const WARM_UP = 10;

export const landingEngine: Row = {
  name: 'landing-engine',
  timeoutMs: 900_000,
  async measure(bench) {
    const results: Result[] = [];
    for (const size of bench.isQuick ? (['M'] as const) : (['M', 'L'] as const)) {
      const world = await newWorld(bench, size, bench.isQuick ? 60 : 200);
      const goals = size === 'M' ? { rebase: 25, merge: 25 } : { rebase: 80, merge: 80 };
      const limits = size === 'M' ? { rebase: 45, merge: 84 } : { rebase: 169, merge: null };
      for (const method of ['rebase', 'merge'] as const)
        results.push(await measureMethod(world, method, goals[method], limits[method]));
      if (size === 'M') results.push(...(await measureStarts(bench, world)));
    }
    return results;
  },
};

interface World {
  readonly size: Size;
  readonly repository: string;
  readonly worktree: string;
  readonly heads: readonly CommitId[];
}

async function newWorld(bench: Bench, size: Size, branches: number): Promise<World> {
  const repository = await newSizedRepository(bench, size);
  const heads = (await makeBranches(repository, branches)).map((head) => brand<CommitId>(head));
  const worktree = path.join(repository, '..', 'plain');
  run(['git', 'worktree', 'add', '--quiet', '--detach', worktree, 'main'], repository);
  return { size, repository, worktree, heads };
}

function tipOf(repository: string, ref: string): CommitId {
  return brand(run(['git', 'rev-parse', '--verify', ref], repository).trim());
}

async function measureMethod(
  world: World,
  method: MergeMethod,
  goal: number,
  limit: number | null,
): Promise<Result> {
  const { heads, size } = world;
  const target = `engine-${method}`;
  const engine = openEngine(world, target, method);
  run(['git', 'branch', '--force', `plain-${method}`, 'main'], world.repository);
  const [engineMs, plainMs]: [number[], number[]] = [[], []];
  for (const [at, head] of heads.entries()) {
    const tookMs = await inTime(() => engine.land(head, at));
    if (at >= WARM_UP) engineMs.push(tookMs);
    if (at % TURN === 0) plainMs.push(await inTime(() => landPlainly(world, `plain-${method}`, head)));
  }
  await engine.close();
  const [ours, theirs] = [median(engineMs), median(plainMs)];
  const said = run(['git', 'fsck', '--unreachable', '--connectivity-only'], world.repository);
  const left = said.split('\n').filter((line) => line.startsWith('unreachable')).length;
  return {
    what: `landing by ${method}, ${COMMITS} commits, ${size}`,
    measured: `${inMs(ours)} (${Math.round(1_000 / ours)}/s)`,
    against: `git rebase and fast-forward: ${inMs(theirs)}`,
    figure: theirs / ours,
    goal: { atLeast: goal, unit: '×' },
    limit,
    broken: left === 0 ? undefined : `${left} objects that nothing leads to were left behind`,
  };
}

async function inTime(work: () => unknown): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

interface Engine {
  readonly land: (head: CommitId, number: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

function openEngine({ repository }: World, target: string, method: MergeMethod): Engine {
  run(['git', 'branch', '--force', target, 'main'], repository);
  const merging = openMerging(openTrustedDir(findRepository(repository)!));
  let tip = tipOf(repository, target);
  return {
    async land(head, number) {
      const built = await merging.build({
        task: brand(`cp-${number}`),
        title: `Task ${number}`,
        plan: null,
        branch: brand(`task-${number}`),
        target: brand(target),
        onto: tip,
        head,
        method,
        at: timestamp(1_700_010_000_000 + number * 1_000),
      });
      if (built.kind !== 'built') throw new Error(`task-${number}: ${built.kind}`);
      const moved = await merging.moveTarget({ target: brand(target), from: tip, to: built.commit });
      if (moved.kind !== 'moved') throw new Error(`task-${number}: ${moved.kind}`);
      tip = built.commit;
    },
    close: () => merging.close(),
  };
}

function landPlainly({ worktree }: World, target: string, head: CommitId): void {
  run(['git', 'checkout', '--quiet', '--detach', head], worktree);
  run(['git', 'rebase', '--quiet', target], worktree);
  run(['git', 'push', '--quiet', '.', `HEAD:refs/heads/${target}`], worktree);
}

/** As it is, and where git's output cannot be made to come at once, so that each merge is a git of its own. */
async function measureStarts(bench: Bench, world: World): Promise<readonly Result[]> {
  const folder = await bench.newFolder();
  const log = path.join(folder, 'log');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const only = path.join(folder, 'only');
  mkdirSync(only);
  writeFileSync(path.join(only, 'git'), `#!/bin/sh\necho "$*" >> '${log}'\nexec '${real}' "$@"\n`);
  chmodSync(path.join(only, 'git'), 0o755);
  const searchPath = process.env['PATH'] ?? '';
  const results: Result[] = [];
  try {
    for (const { what, searched, atMost } of [
      { what: 'gits started per landing', searched: `${only}:${searchPath}`, atMost: 0 },
      { what: 'gits started per landing, none that stays for merges', searched: only, atMost: COMMITS + 1 },
    ]) {
      process.env['PATH'] = searchPath;
      const engine = openEngine(world, `counted-${atMost}`, 'rebase');
      process.env['PATH'] = searched;
      writeFileSync(log, '');
      const starts = () => readFileSync(log, 'utf8').split('\n').length - 1;
      // Until the first files have been changed twice, there is nothing to merge.
      const first = SHARED_FILES + 5;
      for (const [at, head] of world.heads.slice(0, first).entries()) await engine.land(head, at);
      const before = starts();
      const counted = world.heads.slice(first, first + 20);
      for (const [at, head] of counted.entries()) await engine.land(head, first + at);
      const figure = (starts() - before) / counted.length;
      await engine.close();
      const goal = { atMost, unit: '' };
      const measured = String(figure);
      results.push({ what, measured, against: `${COMMITS} commits each`, figure, goal, limit: 0 });
    }
  } finally {
    process.env['PATH'] = searchPath;
  }
  return results;
}
