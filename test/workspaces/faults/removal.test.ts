/** What happens while a worktree is being removed or reset must be noticed, and what happened before must be known. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { describe, expect, it, onTestFinished } from 'vitest';

import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { type RemovalStep, removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import type { RemovalRequest } from '../../../packages/copse/src/workspaces/rules/removal.ts';
import { resetWorkspace } from '../../../packages/copse/src/workspaces/discard/reset.ts';
import { undo } from '../../../packages/copse/src/workspaces/discard/undo.ts';
import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import { brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { Rescues } from '../../../packages/copse/src/git/port.ts';
import { git, newArea } from '../../support/cli.ts';
import { claimant, must } from '../../support/records/tasks.ts';
import { runWorker } from '../../support/workspaces/workspace-processes.ts';
import { type Project, dirty, newDirty, placesIn, stateOf } from '../../support/workspaces/workspaces.ts';

const area = newArea();
const newPlace = placesIn(path.join(area, `it's "a" räpo`));
const newScene = () => newDirty(newPlace());

const byForce = { by: 'person', isNamed: true, isForced: true, deleteBranch: true } as const;

// promise: commits-reachable
it.each(['agent_ended', 'torn_down', 'rescued', 'trashed'] as const)(
  'INVARIANT 1: a commit that is made after %s keeps its branch',
  async (moment) => {
    const { project, task, branch } = await newScene();
    let made = '';
    const onStep = (step: RemovalStep) => {
      if (step === moment) made = commitOn(project, branch);
    };
    const removed = await removeWorkspace(project.context, task, byForce, onStep);
    expect(removed).toMatchObject({ kind: 'removed', becameOfBranch: 'kept', notes: [expect.any(String)] });
    expect(git(project.folder, 'rev-parse', branch)).toBe(made);
  },
);

/** As another git does it that has the branch for a moment. */
function commitOn({ folder }: Project, branch: string): string {
  const commit = git(folder, 'commit-tree', '-p', branch, '-m', 'late', `${branch}^{tree}`);
  git(folder, 'update-ref', `refs/heads/${branch}`, commit);
  return commit;
}

it.each(['trashed', 'branch_deleted'] as const)(
  'a removal that was interrupted after %s and repeated says what it rescued',
  async (step) => {
    const { project, task } = await newScene();
    const { folder } = project;
    const { end } = await runWorker({ folder, task, act: 'remove', kill: { step } });
    expect(end).toBe('SIGKILL');
    const [rescue] = await project.context.rescues.list(task);
    const removed = await project.remove(task);
    expect(removed.rescue).toBe(rescue?.ref);
    const [workspace] = await project.context.board.list('workspace', { task });
    expect(workspace?.disposition).toMatchObject({ is: 'released', rescue: rescue?.ref });
    expect(await project.context.trash.all()).toHaveLength(1);
  },
);

// promise: in-use-kept
it('INVARIANT 7: a process that enters while the files are being saved stops a reset or an undo', async () => {
  const { project, task, worktree } = await newScene();
  await project.remove(task);
  await project.prepare(task);
  dirty(worktree, 'second');
  const before = stateOf(worktree);
  const record = await project.context.board.get('task', task);
  if (record === undefined) throw new Error('The task is gone');
  const refused = { kind: 'refused', refusal: { reason: expect.stringContaining(': sleep (pid') } };
  const acts = [
    (context: WorkspaceContext) => resetWorkspace(context, record),
    (context: WorkspaceContext) => undo(context, task),
  ];
  for (const act of acts) {
    const visited = withVisitor(project.context, worktree);
    expect(await act(visited.context)).toMatchObject(refused);
    expect(await visited.leave()).toBe(1);
    expect(stateOf(worktree)).toEqual(before);
  }
});

/** Somebody comes in right after every snapshot. */
function withVisitor(context: WorkspaceContext, worktree: string) {
  const { rescues } = context;
  const visitors: ChildProcess[] = [];
  const leave = async (): Promise<number> => {
    for (const visitor of visitors) {
      const gone = new Promise((resolve) => visitor.once('close', resolve));
      visitor.kill('SIGKILL');
      await gone;
    }
    return visitors.splice(0).length;
  };
  onTestFinished(() => void leave());
  const snapshot: Rescues['snapshot'] = async (request) => {
    const outcome = await rescues.snapshot(request);
    const visitor = spawn('sleep', ['600'], { cwd: worktree, stdio: 'ignore' });
    await new Promise((resolve) => visitor.once('spawn', resolve));
    visitors.push(visitor);
    return outcome;
  };
  return { context: { ...context, rescues: { ...rescues, snapshot } }, leave };
}

// promise: in-use-kept
it('INVARIANT 7: a worktree whose task an agent holds is not reset or replaced', async () => {
  const { project, task, worktree } = await newScene();
  await project.remove(task);
  await project.prepare(task);
  dirty(worktree, 'second');
  const before = stateOf(worktree);
  const { node } = project.context;
  must(await claimTask(project.context, task, { ...claimant('se-agent'), node }));
  await expect(project.reset(task)).rejects.toThrow('is starting or running');
  await expect(project.undo(task)).rejects.toThrow('is starting or running');
  expect(stateOf(worktree)).toEqual(before);
});

it('an agent with the person’s name does not count as work by hand', async () => {
  const { project, task, worktree } = await newScene();
  const before = stateOf(worktree);
  const { node } = project.context;
  must(await claimTask(project.context, task, { ...claimant('se-agent'), node, agent: brand('ada') }));
  const unforced = await project.tryRemove(task, { isForced: false });
  expect(unforced).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('is starting or running'),
  });
  expect(stateOf(worktree)).toEqual(before);
});

// A count of changed files starts processes of git in the worktree.
it('a removal does not take a process of its own for one that works there', async () => {
  const { project, task } = await newScene();
  const { context } = project;
  const { promise: looked, resolve: onLook } = Promise.withResolvers<void>();
  const watched: WorkspaceContext = {
    ...context,
    git: {
      ...context.git,
      uncommitted: async (folder) => {
        const child = spawn('sleep', ['60'], { cwd: folder });
        await Promise.race([looked, setTimeout(300)]);
        await ended(child);
        return context.git.uncommitted(folder);
      },
    },
    occupancy: {
      ...context.occupancy,
      inside: async (...of) => {
        const inside = await context.occupancy.inside(...of);
        onLook();
        return inside;
      },
    },
  };
  const asked = { ...byForce, isForced: false };
  expect(await removeWorkspace(watched, task, asked)).toMatchObject({ kind: 'question' });
});

describe('a removal while only a git is inside', () => {
  const GIT: readonly string[] = ['git', 'cat-file', '--batch'];
  const looks = async (
    request: RemovalRequest,
    onLook: (git: ChildProcess) => Promise<void>,
    program = GIT,
  ) => {
    const { project, task, worktree } = await newScene();
    const { context } = project;
    // It waits for its input, as a git does that is about to end.
    const [file = '', ...argv] = program;
    const inside = spawn(file, argv, {
      cwd: worktree,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await once(inside, 'spawn');
    onTestFinished(() => void inside.kill('SIGKILL'));
    let count = 0;
    const occupancy: typeof context.occupancy = {
      ...context.occupancy,
      inside: async (...of) => {
        const found = await context.occupancy.inside(...of);
        count += 1;
        await onLook(inside);
        return found;
      },
    };
    const removal = { ...context.policy.removal, gitsLeaveMs: 1 };
    const policy = { ...context.policy, removal };
    const removed = await removeWorkspace({ ...context, occupancy, policy }, task, request);
    return { removed, count, most: removal.gitsLeaveTimes + 1 };
  };

  it('looks again, and goes on when the git has left', async () => {
    const { removed } = await looks(byForce, ended);
    expect(removed).toMatchObject({ kind: 'removed' });
  });

  it('looks again for the shell that starts a git of Copse', async () => {
    const { removed } = await looks(byForce, ended, ['/bin/sh', '-c', 'read -r _; exec git version']);
    expect(removed).toMatchObject({ kind: 'removed' });
  });

  // promise: in-use-kept
  it('is refused after some looks when the git stays, for a landing as for a person', async () => {
    for (const request of [byForce, { by: 'landing' } as const]) {
      const { removed, count, most } = await looks(request, async () => {});
      expect(count).toBe(most);
      expect(removed).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining(': git (pid') as string,
      });
    }
  });
});

async function ended(child: ChildProcess): Promise<void> {
  if (child.signalCode !== null) return;
  const over = once(child, 'exit');
  child.kill('SIGKILL');
  await over;
}
