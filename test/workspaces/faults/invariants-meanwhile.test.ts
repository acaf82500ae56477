/**
 * The invariants about work when something happens between looking and acting. The ports are the real ones; one call of
 * one of them takes so long that somebody else gets a turn right after it.
 */

import { spawn } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { claimNext } from '../../../packages/copse/src/tasks/act/claims.ts';
import { removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import { resetWorkspace } from '../../../packages/copse/src/workspaces/discard/reset.ts';
import { undo } from '../../../packages/copse/src/workspaces/discard/undo.ts';
import { prepareWorkspace } from '../../../packages/copse/src/workspaces/act/prepare.ts';
import type { Outcome } from '../../../packages/copse/src/board/context.ts';
import type { TmuxSession } from '../../../packages/copse/src/kernel/process.ts';
import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import type { RemovalRequest } from '../../../packages/copse/src/workspaces/rules/removal.ts';
import { git, newArea } from '../../support/cli.ts';
import { claimant } from '../../support/records/tasks.ts';
import { dirty, newDirty, stateOf } from '../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;
const newScene = () => newDirty(path.join(area, `project ${(projects += 1)}`));

const force: RemovalRequest = { by: 'person', isNamed: true, isForced: true, deleteBranch: true };

type Turn = () => void | Promise<void>;

function afterRescue(context: WorkspaceContext, turn: Turn): WorkspaceContext {
  const { rescues } = context;
  return {
    ...context,
    rescues: {
      ...rescues,
      async snapshot(request) {
        const outcome = await rescues.snapshot(request);
        await turn();
        return outcome;
      },
    },
  };
}

function afterTrash(context: WorkspaceContext, turn: Turn): WorkspaceContext {
  const { trash } = context;
  return {
    ...context,
    trash: {
      ...trash,
      async put(removed) {
        const entry = await trash.put(removed);
        await turn();
        return entry;
      },
    },
  };
}

// promise: commits-reachable
it('INVARIANT 1: a branch that gets a commit while its worktree is removed is not deleted', async () => {
  const { project, task, branch } = await newScene();
  const { folder } = project;
  const context = afterTrash(project.context, () => moveOn(folder, branch));
  const removed = await removeWorkspace(context, task, force);
  expect(removed).toMatchObject({
    kind: 'removed',
    notes: [expect.stringContaining('it moved while it was being removed')],
  });
  expect(git(folder, 'log', '-1', '--format=%s', branch)).toBe('meanwhile');
});

// promise: commits-reachable
it('INVARIANT 1: a branch that gets a commit while its worktree is reset is not deleted', async () => {
  const { project, task, branch } = await newScene();
  const { folder } = project;
  const record = await project.context.board.get('task', task);
  if (record === undefined) throw new Error(`There is no task ${task}`);
  const context = afterTrash(project.context, () => moveOn(folder, branch));
  expect(await resetWorkspace(context, record)).toMatchObject({
    kind: 'refused',
    refusal: { reason: expect.stringContaining('moved while it was being reset') },
  });
  expect(git(folder, 'log', '-1', '--format=%s', branch)).toBe('meanwhile');
});

/** As another process would: nobody has the branch checked out at this moment. */
function moveOn(folder: string, branch: string): void {
  const tree = git(folder, 'rev-parse', `${branch}^{tree}`);
  const commit = git(folder, 'commit-tree', tree, '-p', branch, '-m', 'meanwhile');
  git(folder, 'update-ref', `refs/heads/${branch}`, commit);
}

// promise: in-use-kept
it('INVARIANT 7: a process that enters a worktree during the rescue stops the removal', async () => {
  const { project, task, worktree, before } = await newScene();
  const pids: (number | undefined)[] = [];
  const context = afterRescue(project.context, async () => {
    const shell = spawn('sleep', ['600'], { cwd: worktree, stdio: 'ignore' });
    onTestFinished(() => void shell.kill('SIGKILL'));
    await new Promise((resolve) => shell.once('spawn', resolve));
    pids.push(shell.pid);
  });
  const removed = await removeWorkspace(context, task, force);
  expect(pids).toHaveLength(1);
  expect(removed).toMatchObject({ kind: 'refused', reason: expect.stringContaining(`pid ${pids[0]}`) });
  expect(stateOf(worktree)).toEqual(before);
});

// promise: in-use-kept
it('INVARIANT 7: a session elsewhere that takes the task while it is rescued keeps its worktree', async () => {
  const { project, task, worktree, before } = await newScene();
  const context = afterRescue(project.context, async () => {
    await claimNext(project.context, { claimant: claimant('se-elsewhere'), capabilities: [] });
  });
  const removed = await removeWorkspace(context, task, force);
  expect(removed).toMatchObject({ kind: 'refused', reason: expect.stringContaining('another machine') });
  expect(stateOf(worktree)).toEqual(before);
});

// promise: rescue-first
it('INVARIANT 2: a file that is written while the worktree is rescued is still there after the removal', async () => {
  const { project, task, worktree } = await newScene();
  const context = afterRescue(project.context, () =>
    writeFileSync(path.join(worktree, 'late.txt'), 'written meanwhile\n'),
  );
  expect(await removeWorkspace(context, task, force)).toMatchObject({ kind: 'removed' });
  await project.undo(task);
  expect(git(worktree, 'status', '--porcelain', 'late.txt')).toBe('?? late.txt');
});

/** Everything that moves a worktree away, each for a worktree with content of its own at its place. */
const discards: Readonly<Record<string, (scene: Scene, context: WorkspaceContext) => Promise<string>>> = {
  async reset({ project, task }, context) {
    const record = await project.context.board.get('task', task);
    if (record === undefined) throw new Error(`There is no task ${task}`);
    return refusedReason(await resetWorkspace(context, record));
  },
  async undo({ task }, context) {
    return refusedReason(await undo(context, task));
  },
  async 'setting aside'({ project, task }, context) {
    const record = await project.context.board.get('task', task);
    if (record === undefined) throw new Error(`There is no task ${task}`);
    const prepared = await prepareWorkspace(context, { task: record, agent: null, session: null });
    return prepared.kind === 'prepared' ? 'not refused' : prepared.reason;
  },
};

type Scene = Awaited<ReturnType<typeof newScene>>;

async function sceneFor(name: string): Promise<Scene> {
  const scene = await newScene();
  const { project, task, worktree } = scene;
  if (name === 'undo') {
    await project.remove(task);
    await project.prepare(task);
    dirty(worktree, 'again');
  }
  if (name === 'setting aside') rmSync(path.join(worktree, '.git'));
  return scene;
}

function refusedReason(outcome: Outcome<unknown>): string {
  return outcome.kind === 'done' ? 'not refused' : outcome.refusal.reason;
}

it.for(Object.keys(discards))('INVARIANT 7: a shell that enters during the rescue stops %s', async (name) => {
  const scene = await sceneFor(name);
  const files = readdirSync(scene.worktree);
  const pids: (number | undefined)[] = [];
  const context = afterRescue(scene.project.context, async () => {
    const shell = spawn('sleep', ['600'], { cwd: scene.worktree, stdio: 'ignore' });
    onTestFinished(() => void shell.kill('SIGKILL'));
    await new Promise((resolve) => shell.once('spawn', resolve));
    pids.push(shell.pid);
  });
  expect(await discards[name]?.(scene, context)).toContain(`pid ${pids[0]}`);
  expect(readdirSync(scene.worktree)).toEqual(files);
});

it.for(Object.keys(discards))(
  'INVARIANT 7: a tmux terminal opened during the rescue stops %s',
  async (name) => {
    const scene = await sceneFor(name);
    const files = readdirSync(scene.worktree);
    const sessions: TmuxSession[] = [];
    const { occupancy } = scene.project.context;
    const context = afterRescue(scene.project.context, () => {
      sessions.push({ name: `copse-${scene.task}`, panes: [], launchers: [], attached: 1 });
    });
    const tmuxSessions = async () => ({ kind: 'known', sessions }) as const;
    const watched = { ...context, occupancy: { ...occupancy, tmuxSessions } };
    expect(await discards[name]?.(scene, watched)).toContain(`its terminal copse-${scene.task} is open`);
    expect(readdirSync(scene.worktree)).toEqual(files);
  },
);
