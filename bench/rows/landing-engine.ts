/**
 * The engine of the merge queue by itself: branches of three commits each land one after another on a target that moves
 * with every one of them, against `git rebase` and a fast-forward in a worktree, in turns.
 *
 * How many gits are started is counted in a run of its own, by a program called `git` that notes each start.
 */

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { findRepository } from '../../packages/copse/src/adapters/git/locate.ts';
import { openMerging } from '../../packages/copse/src/adapters/git/merging.ts';
import { openTrustedDir } from '../../packages/copse/src/adapters/git/trusted-dir.ts';
import { type CommitId, brand, timestamp } from '../../packages/copse/src/domain/ids.ts';
import type { MergeMethod } from '../../packages/copse/src/ports/merging.ts';
import { run } from '../commands.ts';
import { type Size, nameOf, newSizedRepository } from '../repositories.ts';
import { type Bench, type Result, type Row, inMs, median } from '../row.ts';

const COMMITS = 3;
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
  await makeBranches(repository, branches);
  const worktree = path.join(repository, '..', 'plain');
  run(['git', 'worktree', 'add', '--quiet', '--detach', worktree, 'main'], repository);
  const heads = Array.from({ length: branches }, (_, at) => tipOf(repository, `task-${at}`));
  return { size, repository, worktree, heads };
}

function tipOf(repository: string, ref: string): CommitId {
  return brand(run(['git', 'rev-parse', '--verify', ref], repository).trim());
}

/**
 * Every commit changes one line of one file. The first of each branch does so in a file that other branches change as well,
 * elsewhere, so that there is something to merge; the others have theirs for themselves.
 */
async function makeBranches(repository: string, branches: number): Promise<void> {
  const git = spawn('git', ['fast-import', '--quiet'], {
    cwd: repository,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => git.once('close', resolve));
  for (let branch = 0; branch < branches; branch += 1)
    for (let commit = 0; commit < COMMITS; commit += 1) {
      const isShared = commit === 0;
      const file = nameOf(isShared ? branch % SHARED_FILES : SHARED_FILES + branch * COMMITS + commit);
      const lines = run(['git', 'show', `main:${file}`], repository).split('\n');
      lines[isShared ? Math.floor(branch / SHARED_FILES) * LINES_APART : 0] = `// by branch ${branch}`;
      const content = lines.join('\n');
      const who = `Task ${branch} <task@example.invalid> ${1_700_001_000 + branch * 10 + commit} +0000`;
      const from = commit === 0 ? 'from refs/heads/main^0\n' : '';
      git.stdin.write(
        `commit refs/heads/task-${branch}\ncommitter ${who}\ndata 9\nchange ${commit}\n\n${from}` +
          `M 100644 inline ${file}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
      );
    }
  git.stdin.end();
  if ((await ended) !== 0) throw new Error('git fast-import failed');
}

const SHARED_FILES = 20;
const LINES_APART = 10;

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
  const left = run(['git', 'prune', '--dry-run', '--expire=now'], world.repository).split('\n').length - 1;
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
      if (!built.built) throw new Error(`task-${number}: ${built.because}`);
      const moved = await merging.moveTarget({ target: brand(target), from: tip, to: built.commit });
      if (!moved.moved) throw new Error(`task-${number}: ${moved.because}`);
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
      for (const [at, head] of world.heads.slice(0, 5).entries()) await engine.land(head, at);
      const before = starts();
      const counted = world.heads.slice(5, 25);
      for (const [at, head] of counted.entries()) await engine.land(head, at + 5);
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
