/**
 * Making, releasing and rescuing worktrees against plain git, in the same repository and the same minute.
 *
 * Nothing is deleted while anything is measured: after bulk deletes the file system makes files several times slower. So
 * every repetition makes another worktree, and all of them go at the end.
 */

import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';

import { removeWorkspace } from '../../packages/copse/src/workspaces/discard/remove.ts';
import { work } from '../../packages/copse/src/workspaces/act/work.ts';
import type { WorkspaceContext } from '../../packages/copse/src/workspaces/act/context.ts';
import { addTask } from '../../packages/copse/src/tasks/act/tasks.ts';
import { openWorkspaceContext } from '../../packages/copse/src/compose/open.ts';
import { type CommitId, type TaskId, brand, timestamp } from '../../packages/copse/src/kernel/ids.ts';
import { bundle, run } from '../commands.ts';
import { type Size, nameOf, newSizedRepository } from '../repositories.ts';
import { type Bench, type Result, type Row, inMs, interleave, median } from '../row.ts';

const ROW_TIMEOUT_MS = 600_000;

export const worktrees: Row = {
  name: 'worktrees',
  timeoutMs: ROW_TIMEOUT_MS,
  async measure(bench) {
    const results: Result[] = [];
    for (const size of bench.isQuick ? (['M'] as const) : (['M', 'L'] as const)) {
      const world = await newWorld(bench, size);
      if (size === 'M') results.push(await measureCold(world));
      results.push(...(await measurePool(world)));
      results.push(await measureCommand(world));
      if (size === 'M') results.push(...(await measureRelease(world)), ...(await measureRescue(world)));
      await world.context.board.close();
    }
    results.push(await measureSixteen(bench));
    return results;
  },
};

interface World {
  readonly size: Size;
  readonly repository: string;
  readonly context: WorkspaceContext;
  readonly main: CommitId;
  readonly behind: CommitId;
  readonly repetitions: number;
}

let worktreesMade = 0;

async function newWorld(bench: Bench, size: Size): Promise<World> {
  const repository = await newSizedRepository(bench, size);
  const context = await openWorkspaceContext({ cwd: repository, env: { USER: 'bench' } });
  const tipOf = (branch: string) => brand<CommitId>(run(['git', 'rev-parse', branch], repository).trim());
  const most = size === 'L' ? 3 : 9;
  const repetitions = bench.isQuick ? 3 : most;
  return { size, repository, context, main: tipOf('main'), behind: tipOf('behind'), repetitions };
}

/** The naive way: what every tool does. */
function addWithGit({ repository }: World): string {
  worktreesMade += 1;
  const folder = path.join(repository, '..', `plain-${worktreesMade}`);
  run(['git', 'worktree', 'add', '--quiet', '-b', `plain-${worktreesMade}`, folder, 'main'], repository);
  return folder;
}

async function newWorktree({
  context,
  repository,
  main,
}: World): Promise<{ readonly branch: string; readonly path: string }> {
  worktreesMade += 1;
  const name = `made-${worktreesMade}`;
  const moved = await context.git.moveRef(`refs/heads/${name}`, null, main, 'bench');
  if (moved.kind !== 'moved') throw new Error(`${name} could not be made`);
  return { branch: name, path: path.join(repository, '..', name) };
}

async function measureCold(world: World): Promise<Result> {
  const { git } = world.context;
  const timesMs = await interleave(
    {
      plain: () => addWithGit(world),
      copse: async () => {
        const { branch, path: folder } = await newWorktree(world);
        const registered = await git.register({ path: folder, name: branch, branch: brand(branch) });
        if (registered.kind === 'taken') throw new Error(`taken by ${registered.takenBy}`);
        await git.checkOut(registered.place, []);
      },
    },
    { repetitions: world.repetitions, warmUps: 1 },
  );
  return ratio(world, 'a new worktree', timesMs.copse, 'git worktree add', timesMs.plain, 0.8, 0.66);
}

async function measurePool(world: World): Promise<readonly Result[]> {
  const { pool } = world.context;
  const take = async (): Promise<void> => {
    const { branch, path: folder } = await newWorktree(world);
    const taken = await pool.take({ path: folder, name: branch, branch: brand(branch), tip: world.main });
    if (taken.kind !== 'taken') throw new Error(`the pool is ${taken.because}`);
  };
  const results: Result[] = [];
  for (const { name, base, goal, limit } of [
    { name: 'at its commit', base: world.main, goal: 0.03, limit: world.size === 'M' ? 0.007 : 0.001 },
    { name: '10 commits behind', base: world.behind, goal: 0.1, limit: world.size === 'M' ? 0.066 : 0.032 },
  ]) {
    // One more, for the turn that is not counted.
    await pool.refill(world.repetitions + 1, base);
    const timesMs = await interleave(
      { plain: () => addWithGit(world), pool: take },
      { repetitions: world.repetitions, warmUps: 1 },
    );
    const what = `a worktree from the pool, ${name}`;
    results.push(ratio(world, what, timesMs.pool, 'git worktree add', timesMs.plain, goal, limit, 'pool'));
  }
  return results;
}

/** The whole command, start of the program, claim, ports and all. */
async function measureCommand(world: World): Promise<Result> {
  const { context, repository, repetitions } = world;
  await context.pool.refill(repetitions + 1, world.main);
  const ids: TaskId[] = [];
  for (let count = 0; count <= repetitions; count += 1) ids.push(await newTask(context));
  const env = { ...process.env, COPSE_BACKGROUND: '0', USER: 'bench' };
  const timesMs = await interleave(
    {
      plain: () => addWithGit(world),
      copse: () => {
        const [node, ...argv] = bundle;
        execFileSync(node, [...argv, 'work', ids.pop()!, '--json'], { cwd: repository, env, stdio: 'pipe' });
      },
    },
    { repetitions, warmUps: 1 },
  );
  const goal = world.size === 'M' ? 0.25 : 0.05;
  return ratio(
    world,
    'copse work, with a pool',
    timesMs.copse,
    'git worktree add',
    timesMs.plain,
    goal,
    null,
    'command',
  );
}

async function newTask(context: WorkspaceContext): Promise<TaskId> {
  const outcome = await addTask(context, { title: 'Measure' });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
  return outcome.value.id;
}

/** What is left when the rescue is taken away: the rest of the gate, two renames, the branch, the record. */
async function measureRelease(world: World): Promise<readonly Result[]> {
  const { context, repository, repetitions } = world;
  const ids: TaskId[] = [];
  const folders: string[] = [];
  for (let count = 0; count <= repetitions; count += 1) {
    const id = await newTask(context);
    const outcome = await work(context, id, undefined);
    if (outcome.kind === 'refused' || outcome.value.kind !== 'worked')
      throw new Error('the worktree was not made');
    ids.push(id);
    folders.push(addWithGit(world));
  }
  let rescuesMs: number[] = [];
  const rescues: WorkspaceContext['rescues'] = {
    ...context.rescues,
    async snapshot(request) {
      const beganMs = performance.now();
      const outcome = await context.rescues.snapshot(request);
      rescuesMs.push(performance.now() - beganMs);
      return outcome;
    },
  };
  const request = { by: 'person', isNamed: true, isForced: true, deleteBranch: false } as const;
  const timesMs = await interleave(
    {
      copse: async () => {
        const removed = await removeWorkspace({ ...context, rescues }, ids.pop()!, request);
        if (removed.kind !== 'removed')
          throw new Error('reason' in removed ? removed.reason : removed.question);
      },
      plain: () => run(['git', 'worktree', 'remove', '--force', folders.pop()!], repository),
    },
    { repetitions, warmUps: 1 },
  );
  const restMs = timesMs.copse - median(rescuesMs);
  const what = 'releasing a worktree, without the rescue';
  rescuesMs = [];
  return [ratio(world, what, restMs, 'git worktree remove', timesMs.plain, 0.02, 0.005, 'release')];
}

async function measureRescue(world: World): Promise<readonly Result[]> {
  const { context, repetitions } = world;
  const results: Result[] = [];
  for (const { name, edits, limit } of [
    { name: 'nothing changed', edits: 0, limit: null },
    { name: '5 files changed', edits: 5, limit: 1 },
  ]) {
    const id = await newTask(context);
    const outcome = await work(context, id, undefined);
    if (outcome.kind === 'refused' || outcome.value.kind !== 'worked')
      throw new Error('the worktree was not made');
    const folder = outcome.value.workspace.path;
    for (let file = 0; file < edits; file += 1) appendFileSync(path.join(folder, nameOf(file)), '// more\n');
    let at = 1_800_000_000_000;
    const timesMs = await interleave(
      {
        copse: async () => {
          at += 1;
          const saved = await context.rescues.snapshot({
            task: id,
            worktree: folder,
            why: 'asked',
            at: timestamp(at),
          });
          if ((saved.kind === 'saved') !== edits > 0) throw new Error(saved.kind);
        },
        plain: () => run(['git', 'stash', 'create'], folder),
      },
      { repetitions: repetitions * 2, warmUps: 1 },
    );
    results.push(
      ratio(
        world,
        `a rescue, ${name}`,
        timesMs.copse,
        'git stash create',
        timesMs.plain,
        1.5,
        limit,
        'rescue',
      ),
    );
  }
  return results;
}

const AT_ONCE = 16;
const ROUNDS = 10;

async function measureSixteen(bench: Bench): Promise<Result> {
  const repository = await newSizedRepository(bench, 'S');
  const context = await openWorkspaceContext({ cwd: repository, env: { USER: 'bench' } });
  let failures = 0;
  const rounds = bench.isQuick ? 2 : ROUNDS;
  for (let round = 0; round < rounds; round += 1) {
    const ids: TaskId[] = [];
    for (let count = 0; count < AT_ONCE; count += 1) ids.push(await newTask(context));
    const outcomes = await Promise.allSettled(ids.map((id) => work(context, id, undefined)));
    failures += outcomes.filter((one) => one.status === 'rejected' || one.value.kind === 'refused').length;
  }
  await context.board.close();
  return {
    what: `${AT_ONCE} worktrees at once, ${rounds} times: failures`,
    measured: `${failures} of ${AT_ONCE * rounds}`,
    against: '',
    figure: failures,
    goal: { atMost: 0, unit: '' },
    limit: 0,
  };
}

const whys = {
  pool: 'one git process compares the times of all files of the entry with its index before it is handed out, so that nothing another task left there is passed on, and behind the tip another one writes the files that differ; the limit was found without that proof',
  command:
    'the start of the program, then three git processes (the branch, the proof of the pool entry, which of its own files are tracked), a standing one for tips, and three durable writes to the board',
  release:
    'the goal is the time of two renames; the gate also looks at all processes of the machine and asks tmux, before and after the rescue, writes a ref that keeps the tip, deletes the branch, and syncs the record of the trash and three changes of the board to the disk',
  rescue:
    'against the one of a stash: two git processes where nothing changed, and six where something did, besides two that stay; most wait for one another (compare, add, tree, commit, ref), and what is saved is synced to the disk, which a stash is not',
} as const;

function ratio(
  { size }: World,
  what: string,
  ms: number,
  peer: string,
  peerMs: number,
  goal: number,
  limit: number | null,
  why?: keyof typeof whys,
): Result {
  return {
    what: `${what}, ${size}`,
    measured: inMs(ms),
    against: `${peer}: ${inMs(peerMs)}`,
    figure: ms / peerMs,
    goal: { atMost: goal, unit: '×' },
    limit,
    ...(why && { why: whys[why] }),
  };
}
