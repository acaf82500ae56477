/**
 * What is not the task's own stays as it is: processes in a worktree that is to be set aside, branches of people that an
 * agent switched to. And what a teardown leaves behind is work as well.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { prepareWorkspace } from '../../../packages/copse/src/workspaces/act/prepare.ts';
import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../support/cli.ts';
import { claimant, must } from '../../support/records/tasks.ts';
import {
  dirty,
  newDirty,
  newProject,
  openForTest,
  placesIn,
  stateOf,
} from '../../support/workspaces/workspaces.ts';

const area = newArea();
const newPlace = placesIn(path.join(area, `it's "an" ärea`));

async function goInto(cwd: string): Promise<number> {
  const shell = spawn('sleep', ['600'], { cwd, stdio: 'ignore' });
  onTestFinished(() => void shell.kill('SIGKILL'));
  await new Promise((resolve) => shell.once('spawn', resolve));
  return shell.pid ?? 0;
}

// promise: task-branch-from-board
describe('a worktree whose HEAD an agent put on a branch of others', () => {
  it('keeps no other task from that branch', async () => {
    const one = await newDirty(newPlace());
    const { project } = one;
    const victim = await project.addTask('victim');
    const { path: worktree, branch } = await project.prepare(victim);
    git(worktree, 'commit', '--quiet', '--allow-empty', '--message=of the victim');
    await project.remove(victim);
    git(one.worktree, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`);
    expect(await project.prepare(victim)).toMatchObject({ branch });
  });

  it.each(['main', 'of another task'])('is set aside for the next attempt: %s', async (which) => {
    const { project, task, worktree, before } = await newDirty(newPlace());
    const other = await project.prepare(await project.addTask('other'));
    const own = git(worktree, 'symbolic-ref', '--short', 'HEAD');
    const onto = which === 'main' ? 'main' : (other.branch ?? '');
    git(worktree, 'symbolic-ref', 'HEAD', `refs/heads/${onto}`);
    const prepared = await project.prepare(task);
    expect(prepared).toMatchObject({ reused: false, branch: own });
    expect(prepared.notes).toContainEqual(expect.stringContaining(`its HEAD is on ${onto}`));
    expect(git(worktree, 'symbolic-ref', '--short', 'HEAD')).toBe(own);
    expect((await project.context.rescues.list(task)).length).toBeGreaterThan(0);
    expect(before).toBeDefined();
  });
});

describe('a broken worktree', () => {
  async function newBroken() {
    const scene = await newDirty(newPlace());
    rmSync(path.join(scene.worktree, '.git'));
    return scene;
  }

  // promise: in-use-kept
  it('INVARIANT 7: is not set aside while a live process is in it', async () => {
    const { project, task, worktree } = await newBroken();
    const pid = await goInto(worktree);
    expect(await project.tryPrepare(task)).toMatchObject({
      kind: 'refused',
      because: 'occupied',
      reason: expect.stringContaining(`sleep (pid ${pid})`),
      next: [expect.stringContaining(`copse work ${task}`)],
    });
    expect(existsSync(path.join(worktree, 'ignored', 'deep', 'cache.bin'))).toBe(true);
    expect(await project.context.trash.all()).toEqual([]);
    expect(await project.context.rescues.list(task)).toEqual([]);
  });

  // promise: in-use-kept
  it('INVARIANT 7: is not set aside when a process enters while it is being saved', async () => {
    const { project, task, worktree } = await newBroken();
    const { rescues } = project.context;
    const snapshot: typeof rescues.snapshot = async (request) => {
      const outcome = await rescues.snapshot(request);
      await goInto(worktree);
      return outcome;
    };
    const context = { ...project.context, rescues: { ...rescues, snapshot } };
    expect(await prepareIn(context, task)).toMatchObject({ kind: 'refused', because: 'occupied' });
    expect(existsSync(path.join(worktree, 'ignored', 'deep', 'cache.bin'))).toBe(true);
  });

  // promise: in-use-kept
  it('INVARIANT 7: is not set aside while a session holds the task, except for that session', async () => {
    const { project, task, worktree } = await newBroken();
    const { context } = project;
    const { token } = must(await claimTask(context, task, { ...claimant('se-agent'), node: context.node }));
    expect(await prepareIn(context, task)).toMatchObject({ kind: 'refused', because: 'occupied' });
    expect(existsSync(path.join(worktree, 'ignored', 'deep', 'cache.bin'))).toBe(true);

    const record = await context.board.get('task', task);
    if (record === undefined) throw new Error('The task is gone');
    const request = { task: record, agent: null, session: null, token };
    expect(await prepareWorkspace(context, request)).toMatchObject({ kind: 'prepared', reused: false });
  });

  async function prepareIn(context: WorkspaceContext, id: TaskId) {
    const task = await context.board.get('task', id);
    if (task === undefined) throw new Error('The task is gone');
    return prepareWorkspace(context, { task, agent: null, session: null });
  }
});

describe('a person’s branch that the agent switched to', () => {
  /** The agent committed on it, and then its worktree was removed. */
  async function newRemoved({ isDirty = false } = {}) {
    const { project, task, worktree, branch } = await newDirty(newPlace());
    const { folder } = project;
    git(worktree, 'stash', '--quiet', '--include-untracked');
    git(folder, 'branch', 'personal', 'main');
    git(worktree, 'switch', '--quiet', 'personal');
    writeFileSync(path.join(worktree, 'tracked.txt'), 'by the agent\n');
    git(worktree, 'commit', '--quiet', '--all', '--message=agent on personal');
    const commit = git(worktree, 'rev-parse', 'HEAD');
    if (isDirty) writeFileSync(path.join(worktree, 'tracked.txt'), 'more by the agent\n');
    const before = stateOf(worktree);
    await project.remove(task);
    return { project, task, worktree, folder, branch, commit, before };
  }

  // promise: checkout-untouched
  it.each([false, true])(
    'INVARIANT 10: is left where the person put it when the removal is undone (uncommitted changes: %s)',
    async (isDirty) => {
      const { project, task, worktree, folder, commit, before } = await newRemoved({ isDirty });
      git(folder, 'branch', '--force', 'personal', 'main');
      const undone = await project.undo(task);
      expect(undone).toMatchObject({ branch: null, notes: [expect.stringContaining('personal')] });
      expect(git(folder, 'rev-parse', 'personal')).toBe(git(folder, 'rev-parse', 'main'));
      expect(git(worktree, 'rev-parse', 'HEAD')).toBe(commit);
      expect(git(worktree, 'branch', '--show-current')).toBe('');
      expect(withoutBranch(stateOf(worktree))).toEqual(withoutBranch(before));
    },
  );

  // promise: checkout-untouched
  it('INVARIANT 10: is not moved when the person has it checked out by then', async () => {
    const { project, task, worktree, folder, commit } = await newRemoved();
    git(folder, 'switch', '--quiet', 'personal');
    expect(await project.undo(task)).toMatchObject({ branch: null, notes: [expect.any(String)] });
    expect(git(folder, 'status', '--porcelain=v2', '--branch')).toContain('# branch.head personal');
    expect(git(worktree, 'rev-parse', 'HEAD')).toBe(commit);
  });

  it('is used again if it did not move, and made again if it was deleted', async () => {
    for (const isGone of [false, true]) {
      const { project, task, worktree, folder, before } = await newRemoved();
      if (isGone) git(folder, 'branch', '--quiet', '--delete', '--force', 'personal');
      expect(await project.undo(task)).toMatchObject({ branch: 'personal', notes: [] });
      expect(stateOf(worktree)).toEqual(before);
    }
  });

  // promise: checkout-untouched
  it('INVARIANT 10: does not become the task’s own by an undo, so no later removal deletes it', async () => {
    const { project, task, folder, branch } = await newRemoved();
    await project.undo(task);
    const [workspace] = (await project.context.board.list('workspace', { task })).toReversed();
    expect(workspace?.worktree?.branch).toBe(branch);
    git(folder, 'merge', '--quiet', '--ff-only', 'personal');
    expect(await project.remove(task)).toMatchObject({ becameOfBranch: 'kept' });
    expect(git(folder, 'rev-parse', 'personal')).toBe(git(folder, 'rev-parse', 'main'));
  });

  /** Without what git says about HEAD. */
  function withoutBranch(state: Readonly<Record<string, string>>) {
    const status = state['(status)']?.replaceAll(/^# branch\..*$/gm, '');
    return { ...state, '(status)': status };
  }
});

describe('a teardown’s change to a worktree with uncommitted changes', () => {
  async function newTeardown(command: string) {
    const folder = newProject(newPlace());
    writeFileSync(path.join(folder, 'copse.yml'), `workspace:\n  teardown: [${JSON.stringify(command)}]\n`);
    const project = await openForTest(folder);
    const task = await project.addTask();
    const { path: worktree } = await project.prepare(task);
    dirty(worktree, task);
    return { project, task, folder, worktree, before: stateOf(worktree) };
  }

  // promise: rescue-first
  it('INVARIANT 2: is rescued too, and the state before it can be restored', async () => {
    const { project, task, folder, worktree, before } = await newTeardown(
      'cd "$COPSE_WORKTREE_PATH"; echo kept > report.txt; echo over > staged.txt; rm tool.sh',
    );
    const { rescue, notes } = await project.remove(task);
    const [first, second] = (await project.context.rescues.list(task)).map(({ ref }) => ref).toSorted();
    expect(first).toBe(rescue);
    expect(notes).toEqual([expect.stringContaining(`${second}`)]);
    expect(git(folder, 'show', `${first}:staged.txt`)).toBe(`${task} staged`);
    expect(git(folder, 'show', `${second}:report.txt`)).toBe('kept');
    expect(git(folder, 'show', `${second}:staged.txt`)).toBe('over');

    const { inTheWay } = await project.undo(task);
    expect(inTheWay).toEqual(['staged.txt']);
    rmSync(path.join(worktree, 'report.txt'));
    expect(stateOf(worktree)).toEqual(before);
  });

  it('is not rescued twice if it did nothing', async () => {
    const { project, task } = await newTeardown('true');
    const { rescue, notes } = await project.remove(task);
    expect(notes).toEqual([]);
    expect((await project.context.rescues.list(task)).map(({ ref }) => ref)).toEqual([rescue]);
  });
});

describe('a teardown script that an agent rewrote', () => {
  async function newScript(inBase: boolean) {
    const folder = newProject(newPlace());
    writeFileSync(path.join(folder, 'copse.yml'), 'workspace:\n  teardown: ./scripts/down.sh\n');
    const say = (text: string) => `#!/bin/sh\necho ${text} >> "$COPSE_REPO_ROOT/said"\n`;
    const script = (root: string, text: string) => {
      mkdirSync(path.join(root, 'scripts'), { recursive: true });
      writeFileSync(path.join(root, 'scripts', 'down.sh'), say(text), { mode: 0o755 });
      git(root, 'add', '--all');
      git(root, 'commit', '--quiet', `--message=${text}`);
    };
    if (inBase) script(folder, 'accepted');
    const project = await openForTest(folder);
    const task = await project.addTask();
    const { path: worktree } = await project.prepare(task);
    script(worktree, 'rewritten');
    return { project, task, said: path.join(folder, 'said') };
  }

  // promise: teardown-from-base
  it('runs as it is in the base', async () => {
    const { project, task, said } = await newScript(true);
    expect((await project.remove(task)).notes).toEqual([]);
    expect(readFileSync(said, 'utf8')).toBe('accepted\n');
  });

  it('does not run if the base has none; the removal goes on and says where it looked', async () => {
    const { project, task, said } = await newScript(false);
    const { notes } = await project.remove(task);
    expect(notes).toEqual([expect.stringMatching(/failed at: \.\/scripts\/down\.sh.*checkout of main \(/)]);
    expect(existsSync(said)).toBe(false);
  });

  it('does not run without a known base, and the removal says that it did not', async () => {
    const { project, task, said } = await newScript(true);
    const { furnishing } = project.context;
    const dismantle: typeof furnishing.dismantle = (request) =>
      furnishing.dismantle({ ...request, base: null });
    Object.assign(project.context, { furnishing: { ...furnishing, dismantle } });
    const { notes } = await project.remove(task);
    expect(notes).toEqual([expect.stringMatching(/^Its teardown did not run: .*base branch.*not known/)]);
    expect(existsSync(said)).toBe(false);
  });
});
