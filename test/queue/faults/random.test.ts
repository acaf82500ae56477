/**
 * Random queues against plain git: a few branches that change the same files land by every method, with and without checks, while
 * whoever leads the queue is killed at random. Afterwards what landed is done again with `git rebase`, `git merge` and
 * `git merge --squash` in the checkout, in the order in which it landed: the tree must be the same. What was handed back must
 * conflict there, too.
 *
 * COPSE_QUEUES says how many, COPSE_SEED which.
 */

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, it } from 'vitest';

import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import type { MergeMethod } from '../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { often } from '../../support/long.ts';
import { queueCommit } from '../../support/queue/queued.ts';
import { type RandomBranch, makeRandomQueue } from '../../support/queue/random-queue.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';
import { drawing } from '../../support/workspaces/workspace-chance.ts';
import { forEachAtOnce } from '../../support/workspaces/workspace-processes.ts';

const QUEUES = often({ short: 6, long: 12, variable: 'COPSE_QUEUES' });
const AT_ONCE = 2;
const MOST_KILLS = 2;
/** A queue of this size takes about as long. */
const LONGEST_MS = 400;
/** Far longer than one that has to outlive a lock which a killed git left. */
const STUCK_MS = 120_000;

const first = Number(process.env['COPSE_SEED'] ?? Date.now() % 1_000_000);
const seeds = Array.from({ length: QUEUES }, (_, index) => first + index);

const area = newArea();
const program = bundleWorker(new URL('../../support/queue/queue-worker.ts', import.meta.url));

// promise: only-own-changes, lands-once, checked-tree-lands
it(
  `${QUEUES} random queues with kills: the target is what plain git makes of the same branches`,
  () => forEachAtOnce(seeds, AT_ONCE, survive),
  QUEUES * 30_000,
);

async function survive(seed: number): Promise<void> {
  const draw = drawing(seed);
  const folder = path.join(area, `queue ${seed}`);
  const method = (['rebase', 'merge', 'squash'] as const)[Math.floor(draw() * 3)] ?? 'rebase';
  const hasChecks = draw() < 0.3;
  const checks = hasChecks ? '\n  slots: 2\n  checks:\n    quick: "true"' : '';
  const queue = makeRandomQueue(folder, draw, `landing:\n  method: ${method}${checks}`);
  // Half of them with the target checked out.
  if (draw() < 0.5) git(folder, 'switch', '--quiet', '--detach');
  const opened = await openRun({ cwd: folder, env: plainEnv }, { asNode: true });
  const tasks = new Map<string, RandomBranch>();
  for (const branch of queue.branches)
    tasks.set(await queueCommit(opened.context, { title: branch.name, head: branch.head }), branch);
  const did: string[] = [];
  try {
    const kills = Math.floor(draw() * (MOST_KILLS + 1));
    for (let count = 0; count < kills; count += 1) did.push(await lead(folder, draw() * LONGEST_MS));
    expect(await lead(folder, null)).toBe('done');
    const statuses = new Map<string, string>();
    for (const id of tasks.keys())
      statuses.set(id, (await opened.context.board.get('task', id))?.state.status ?? '');
    expectSame(folder, queue.main, { method, tasks, statuses });
  } catch (error) {
    const log = git(folder, 'log', '--graph', '--oneline', '--all');
    throw new Error(
      `COPSE_SEED=${seed} COPSE_QUEUES=1 (${method}, ${did.join(', ')}): ${String(error)}\n${log}`,
      {
        cause: error,
      },
    );
  } finally {
    await opened.close();
  }
  rmSync(folder, { recursive: true, force: true });
}

interface Ended {
  readonly method: MergeMethod;
  readonly tasks: ReadonlyMap<string, RandomBranch>;
  readonly statuses: ReadonlyMap<string, string>;
}

function expectSame(folder: string, before: string, { method, tasks, statuses }: Ended): void {
  const { landed, commits } = landedOn(folder, before);
  const those = (wanted: string) =>
    new Set([...statuses].filter(([, status]) => status === wanted).map(([task]) => task));
  const [done, back] = [those('done'), those('needs_attention')];
  expect([...statuses].filter(([task]) => !done.has(task) && !back.has(task))).toEqual([]);
  // What had nothing that the target lacked is done without a commit.
  expect(landed.filter(({ task }) => !done.has(task))).toEqual([]);
  // Every tip that the target ever had is on the way to the last one, in that order.
  const tips = new Set(tipsOf(folder));
  expect([...tips]).toEqual([before, ...commits].filter((commit) => tips.has(commit)));

  const replay = new Replay(folder, before);
  const misfits = new Set(back);
  const look = () => {
    for (const task of misfits) if (!replay.wouldFit(tasks.get(task)!)) misfits.delete(task);
  };
  look();
  for (const { task, isMerge } of landed) {
    replay.land(tasks.get(task)!, isMerge ? 'merge' : method);
    look();
  }
  // Also: no candidate is left.
  const refs = ['refs/heads/main', 'refs/copse/candidate'];
  expect(git(folder, 'for-each-ref', '--format=%(refname) %(tree)', ...refs)).toBe(
    `refs/heads/main ${git(folder, 'rev-parse', 'HEAD^{tree}')}`,
  );
  // Handed back, and plain git never saw a conflict: only what takes back others' work may be.
  const unfair = [...misfits].filter((task) => tasks.get(task)?.isEvil !== true);
  expect(unfair.map((task) => tasks.get(task)?.name)).toEqual([]);
}

/** The oldest first, by the reflog. */
function tipsOf(folder: string): readonly string[] {
  const log = readFileSync(path.join(folder, '.git', 'logs', 'refs', 'heads', 'main'), 'utf8');
  return log
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
}

interface Landed {
  readonly landed: readonly { readonly task: string; readonly isMerge: boolean }[];
  readonly commits: readonly string[];
}

/** The tasks in the order in which they landed, each once, however many commits it has. */
function landedOn(folder: string, before: string): Landed {
  const format = '%H%x00%P%x00%(trailers:key=Task,valueonly,separator=%x2C)%x01';
  const log = git(folder, 'log', '--first-parent', '--reverse', `--format=${format}`, `${before}..main`);
  const landed: { task: string; isMerge: boolean }[] = [];
  const commits: string[] = [];
  for (const line of log.split('\x01').filter((part) => part.trim() !== '')) {
    const [commit = '', parents = '', task = ''] = line.trim().split('\0');
    commits.push(commit);
    if (landed.at(-1)?.task === task) continue;
    expect(
      landed.map((one) => one.task),
      'nothing lands twice',
    ).not.toContain(task);
    landed.push({ task, isMerge: parents.includes(' ') });
  }
  return { landed, commits };
}

/** The same with plain git, in the checkout: nobody needs it as it is any more. */
class Replay {
  readonly #folder: string;

  constructor(folder: string, before: string) {
    this.#folder = folder;
    git(folder, 'checkout', '--quiet', '--detach', before);
  }

  land({ head }: Pick<RandomBranch, 'head'>, how: MergeMethod): void {
    if (how === 'merge') git(this.#folder, 'merge', '--quiet', '--no-ff', '--no-edit', head);
    else if (how === 'squash') {
      git(this.#folder, 'merge', '--quiet', '--squash', head);
      git(this.#folder, 'commit', '--quiet', '--allow-empty', '--message=squashed');
    } else this.#rebase(head);
  }

  /** A branch with merges of its own is squashed where leaving them out fails, or gives another tree than merging it. */
  #rebase(head: string): void {
    const tip = readFileSync(path.join(this.#folder, '.git', 'HEAD'), 'utf8').trimEnd();
    const hasMerges = git(this.#folder, 'rev-list', '--merges', `${tip}..${head}`) !== '';
    if (!hasMerges) return void git(this.#folder, 'rebase', '--quiet', tip, head);
    const run = (...argv: readonly string[]) =>
      spawnSync('git', argv, { cwd: this.#folder, env: plainEnv, encoding: 'utf8' });
    const whole = run('merge-tree', '--write-tree', tip, head).stdout.split('\n', 1)[0];
    const isReplayed = run('rebase', '--quiet', tip, head).status === 0;
    if (isReplayed && git(this.#folder, 'rev-parse', 'HEAD^{tree}') === whole) return;
    if (!isReplayed) git(this.#folder, 'rebase', '--abort');
    git(this.#folder, 'checkout', '--quiet', '--force', '--detach', tip);
    this.land({ head }, 'squash');
  }

  wouldFit({ head }: RandomBranch): boolean {
    const argv = ['merge-tree', '--write-tree', '--no-messages', 'HEAD', head];
    return spawnSync('git', argv, { cwd: this.#folder, env: plainEnv }).status === 0;
  }
}

// Processes that lead. Starting one takes longer than a queue, so one that was not killed leads the next queue.

interface Leader {
  readonly child: ChildProcessWithoutNullStreams;
  heard: string;
}

const idle: Leader[] = [];

afterAll(() => {
  for (const { child } of idle) child.kill('SIGKILL');
});

/** `done`, or what became of it when it was killed after so long. */
async function lead(folder: string, killAfterMs: number | null): Promise<string> {
  const leader = idle.pop() ?? start();
  await said(leader, 'ready');
  leader.child.stdin.write(`${folder}\n`);
  const done = said(leader, 'done').then(() => true);
  const isDone = await Promise.race([done, later(killAfterMs ?? STUCK_MS)]);
  if (isDone) {
    leader.heard = 'ready';
    idle.push(leader);
    return 'done';
  }
  const gone = new Promise((resolve) => leader.child.once('exit', resolve));
  process.kill(-leader.child.pid!, 'SIGKILL');
  await gone;
  return killAfterMs === null ? 'stuck' : `killed after ${Math.round(killAfterMs)} ms`;
}

function start(): Leader {
  const child = spawn(process.execPath, [program.file], {
    detached: true,
    env: { ...plainEnv, ...program.env },
  });
  const leader = { child, heard: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    leader.heard += chunk;
  });
  child.stderr.pipe(process.stderr, { end: false });
  return leader;
}

async function said(leader: Leader, word: string): Promise<void> {
  while (!leader.heard.includes(word)) {
    if (leader.child.exitCode !== null) throw new Error(`It ended with ${leader.child.exitCode}`);
    if (leader.child.signalCode !== null) return;
    await later(5);
  }
}

async function later(ms: number): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return false;
}
