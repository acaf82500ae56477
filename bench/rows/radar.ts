/**
 * The conflict radar against trying every pair: one branch of 200 moved, and what is known of all pairs is up to date again.
 *
 * Each pair alone would take minutes, so some of them are merged with plain git, and the time is taken times their
 * share. Worktrees are registered and not checked out: the radar looks at commits only.
 */

import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';

import { openMerging } from '../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../packages/copse/src/git/directory/trusted-dir.ts';
import { change } from '../../packages/copse/src/board/context.ts';
import { type RadarLook, type RadarContext, refreshRadar } from '../../packages/copse/src/radar/radar.ts';
import { addTask } from '../../packages/copse/src/tasks/act/tasks.ts';
import { openWorkspaceContext } from '../../packages/copse/src/compose/open.ts';
import { openRadar } from '../../packages/copse/src/compose/run/radar.ts';
import { decided } from '../../packages/copse/src/kernel/decision.ts';
import {
  type BranchName,
  type CommitId,
  type TaskId,
  type WorkspaceId,
  brand,
} from '../../packages/copse/src/kernel/ids.ts';
import { run } from '../commands.ts';
import { nameOf, newSizedRepository } from '../repositories.ts';
import { type Bench, type Row, inMs, median } from '../row.ts';

const BRANCHES = 200;
const COMMITS = 3;
const FILES_PER_COMMIT = 2;
const FILES = 5_000;
/** Pairs that are merged the obvious way in each turn. */
const SAMPLE = 20;
/** One branch in so many also changes a file that many change. */
const POPULAR_EVERY = 10;

export const radar: Row = {
  name: 'radar',
  timeoutMs: 600_000,
  async measure(bench) {
    const world = await newWorld(bench);
    const firstMs = await timed(() => look(world));
    const [movedMs, pairMs]: [number[], number[]] = [[], []];
    let left = 0;
    let pairs = 0;
    for (let turn = -1; turn < (bench.isQuick ? 5 : 15); turn += 1) {
      moveOne(world, turn + 1);
      const before = looseObjects(world);
      const took = await timed(async () => (pairs = (await look(world)).sighting.pairs.length));
      left += looseObjects(world) - before;
      const plain = await timed(() => {
        for (let pair = 0; pair < SAMPLE; pair += 1) mergePlainly(world, (turn + 1) * SAMPLE + pair);
      });
      if (turn < 0) continue;
      movedMs.push(took);
      pairMs.push(plain / SAMPLE);
    }
    await world.close();
    const all = (BRANCHES * (BRANCHES - 1)) / 2;
    const bruteMs = median(pairMs) * all;
    return [
      {
        what: `radar, M, one of ${BRANCHES} branches moved (${pairs} pairs meet; the first look took ${inMs(firstMs)})`,
        measured: inMs(median(movedMs)),
        against: `git merge-tree of ${all} pairs: ${inMs(bruteMs)}`,
        figure: (100 * median(movedMs)) / bruteMs,
        goal: { atMost: 2, unit: '%' },
        limit: 0.45,
        broken: left === 0 ? undefined : `${left} loose objects were left behind`,
      },
    ];
  },
};

interface World {
  readonly repository: string;
  readonly context: RadarContext;
  close(): Promise<void>;
}

async function newWorld(bench: Bench): Promise<World> {
  const repository = await newSizedRepository(bench, 'M');
  await importHistory(repository, [...branchHistory()].join(''));
  const workspaces = await openWorkspaceContext({ cwd: repository, env: { USER: 'bench' } });
  const place = { home: repository, commonDir: path.join(repository, '.git') };
  const dir = openTrustedDir(place);
  const merging = openMerging(dir);
  const context = { ...workspaces, merging, radar: openRadar(place, dir) };
  const main = brand<CommitId>(run(['git', 'rev-parse', 'main'], repository).trim());
  for (let index = 0; index < BRANCHES; index += 1) {
    const added = await addTask(workspaces, { title: `Branch ${index}` });
    if (added.kind === 'refused') throw new Error(added.refusal.reason);
    const branch = brand<BranchName>(branchName(index));
    const folder = path.join(workspaces.worktreeFolder, added.value.id);
    const registered = await workspaces.git.register({ path: folder, name: added.value.id, branch });
    if (registered.kind === 'taken') throw new Error(`taken by ${registered.takenBy}`);
    await recordWorkspace(workspaces, added.value.id, { path: folder, branch, baseCommit: main });
  }
  return {
    repository,
    context,
    async close() {
      await merging.close();
      await workspaces.board.close();
    },
  };
}

async function recordWorkspace(
  context: Awaited<ReturnType<typeof openWorkspaceContext>>,
  task: TaskId,
  place: { readonly path: string; readonly branch: BranchName; readonly baseCommit: CommitId },
): Promise<void> {
  const { node } = context;
  const worktree = { ...place, baseBranch: brand<BranchName>('main') };
  const recorded = await change(context, (change) => {
    const of = { id: brand<WorkspaceId>(`ws-${task}`), at: change.at, task, node, worktree };
    return change.apply(decided({ type: 'workspace.prepared', ...of, strategy: 'git_worktree' }));
  });
  if (recorded.kind === 'refused') throw new Error(recorded.refusal.reason);
}

async function look({ context }: World): Promise<RadarLook> {
  const looked = await refreshRadar(context);
  if (looked === undefined) throw new Error('Another process is looking');
  if (looked.problems.length > 0) throw new Error(looked.problems.join('; '));
  return looked;
}

async function timed(work: () => unknown): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

function branchName(index: number): string {
  return `work-${index}`;
}

function* branchHistory(): Generator<string> {
  for (let index = 0; index < BRANCHES; index += 1) {
    yield `reset refs/heads/${branchName(index)}\nfrom refs/heads/main\n\n`;
    for (let commit = 0; commit < COMMITS; commit += 1) {
      const own = Array.from({ length: FILES_PER_COMMIT }, (_, at) => {
        const step = (index * COMMITS + commit) * FILES_PER_COMMIT + at;
        return (step * 7_919 + 13) % FILES;
      });
      const isPopular = commit === 0 && index % POPULAR_EVERY === 0;
      yield commitOf(index, commit, isPopular ? [0, ...own] : own);
    }
  }
}

function commitOf(index: number, commit: number, files: readonly number[]): string {
  const who = `Bench <bench@example.invalid> ${1_700_100_000 + commit} +0000`;
  const message = `branch ${index}, commit ${commit}`;
  const changes = files.map((file) => {
    const text = `export const of${index} = ${commit};\n`.repeat(10);
    return `M 100644 inline ${nameOf(file)}\ndata ${text.length}\n${text}\n`;
  });
  return `commit refs/heads/${branchName(index)}\ncommitter ${who}\ndata ${message.length}\n${message}\n${changes.join('')}\n`;
}

async function importHistory(repository: string, history: string): Promise<void> {
  const git = spawn('git', ['fast-import', '--quiet', '--force'], {
    cwd: repository,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => git.once('close', resolve));
  git.stdin.end(history);
  if ((await ended) !== 0) throw new Error('git fast-import failed');
}

/** A commit on one branch, as its agent would make it. */
function moveOne({ repository }: World, turn: number): void {
  const branch = branchName((turn * 37) % BRANCHES);
  const tree = run(['git', 'rev-parse', `${branch}~1^{tree}`], repository).trim();
  const message = ['-m', `turn ${turn}`];
  const commit = run(['git', 'commit-tree', '-p', branch, ...message, tree], repository).trim();
  run(['git', 'update-ref', `refs/heads/${branch}`, commit], repository);
}

function looseObjects({ repository }: World): number {
  return Number(/^count: (\d+)/m.exec(run(['git', 'count-objects', '-v'], repository))?.[1] ?? 0);
}

/** One pair, the obvious way: what it writes stays. */
function mergePlainly({ repository }: World, pair: number): void {
  const [one, other] = [(pair * 13) % BRANCHES, (pair * 29 + 1) % BRANCHES];
  const argv = ['merge-tree', '--write-tree', branchName(one), branchName(other)];
  const { status, stderr } = spawnSync('git', argv, { cwd: repository });
  if (status !== 0 && status !== 1) throw new Error(`git merge-tree failed: ${stderr.toString()}`);
}
