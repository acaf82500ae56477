/** The life of a task's worktree as Copse leads it, step by step, each with an answer that can be compared. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { git, gitLine, type TrustedDir } from '../../../packages/copse/src/git/process.ts';
import { prepareWorkspace } from '../../../packages/copse/src/workspaces/act/prepare.ts';
import { removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import { resetWorkspace } from '../../../packages/copse/src/workspaces/discard/reset.ts';
import { syncTask } from '../../../packages/copse/src/workspaces/act/sync.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { undo } from '../../../packages/copse/src/workspaces/discard/undo.ts';
import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import { openWorkspaceContext } from '../../../packages/copse/src/compose/open.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { Task } from '../../../packages/copse/src/tasks/rules/task.ts';
import { plainEnv } from '../cli.ts';
import { filesIn } from './git-operations.ts';
import type { Scene } from './git-scene.ts';
import { must } from '../records/tasks.ts';
import { drawing } from '../workspaces/workspace-chance.ts';

interface Life {
  readonly context: WorkspaceContext;
  readonly dir: TrustedDir;
  readonly task: Task;
  readonly worktree: string;
}

/** In this order. Nothing but Copse starts git on the way: plain git would run what is planted. */
const steps: Readonly<Record<string, (life: Life) => Promise<unknown>>> = {
  prepare: async ({ context, task, worktree }) => [await prepare(context, task), ownFilesIn(worktree)],
  'sync, with files to write': async ({ context, dir, task, worktree }) => {
    await moveMain(dir);
    const { notes: _, ...synced } = { notes: [], ...(await syncTask(context, { task: task.id })) };
    return [synced, ownFilesIn(worktree)];
  },
  reset: async ({ context, dir, task, worktree }) => {
    makeChanges(worktree);
    const done = await context.git.tryLock(`task-${task.id}`, () => resetWorkspace(context, task));
    return [done?.value, await rescuedIn(context, dir)];
  },
  'prepare again': async ({ context, task, worktree }) => [
    await prepare(context, task),
    ownFilesIn(worktree),
  ],
  'remove, with the branch': async ({ context, dir, task, worktree }) => {
    makeChanges(worktree);
    const request = { by: 'person', isNamed: true, isForced: true, deleteBranch: true } as const;
    return [await removeWorkspace(context, task.id, request), await rescuedIn(context, dir)];
  },
  undo: async ({ context, task, worktree }) => [await undo(context, task.id), ownFilesIn(worktree)],
};

/** Calls back after every step. */
export async function liveIn(
  scene: Scene,
  dir: TrustedDir,
  afterStep: (name: string) => void,
): Promise<Readonly<Record<string, unknown>>> {
  const opened = await openWorkspaceContext({ cwd: scene.top, env: plainEnv });
  let now = 1_700_000_000_000;
  const clock = { now: () => timestamp((now += 1)) };
  // What a remote answers is another matter, and has operations of its own.
  const settings = { ...opened.settings, fetch_before_setup: false };
  const context = { ...opened, clock, settings, random: drawing(7) };
  try {
    const task = must(await addTask(context, { title: 'Live through it' }));
    const life = { context, dir, task, worktree: path.join(scene.top, '.worktrees', task.id) };
    const answers: [string, unknown][] = [];
    for (const [name, step] of Object.entries(steps)) {
      answers.push([name, await step(life)]);
      afterStep(name);
    }
    return Object.fromEntries(answers);
  } finally {
    await context.board.close();
  }
}

async function prepare(context: WorkspaceContext, task: Task): Promise<unknown> {
  const prepared = await prepareWorkspace(context, { task, agent: null, session: null });
  if (prepared.kind !== 'prepared') return prepared;
  const { branch, base, reused, notes } = prepared;
  return { branch, base, reused, notes };
}

/** Something of every kind that a filter, a driver or an attribute could have a part in. */
function makeChanges(worktree: string): void {
  writeFileSync(path.join(worktree, 'code.txt'), 'changed\r\n');
  writeFileSync(path.join(worktree, 'new.md'), 'new\n');
  writeFileSync(path.join(worktree, 'new.txt'), 'new\n');
}

async function moveMain(dir: TrustedDir): Promise<void> {
  const who = { NAME: 'Ada', EMAIL: 'ada@example.invalid', DATE: '@1700000000 +0000' };
  const env = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((role) =>
      Object.entries(who).map(([key, value]) => [`GIT_${role}_${key}`, value]),
    ),
  );
  const tree = 'refs/heads/ahead^{tree}';
  const commit = await gitLine(dir, ['commit-tree', tree, '-p', 'refs/heads/main', '-m', 'more'], { env });
  await git(dir, ['update-ref', 'refs/heads/main', commit]);
}

async function rescuedIn({ rescues }: WorkspaceContext, dir: TrustedDir): Promise<unknown> {
  const all = await rescues.list();
  return Promise.all(
    all.map(async (rescue) => [rescue, await gitLine(dir, ['ls-tree', '-r', rescue.commit])]),
  );
}

/** Copse's own notes have ports in them, which are another's the next time. */
function ownFilesIn(worktree: string): readonly string[] {
  return filesIn(worktree).filter((line) => !/^(\.copse|\.git)\b/.test(line));
}
