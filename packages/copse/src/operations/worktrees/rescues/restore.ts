import path from 'node:path';

import type { Rescue, Restored } from '../../../git/port.ts';
import { shown } from '../../../kernel/text.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import { prepareWorkspace } from '../../../workspaces/act/prepare.ts';
import type { Access, CloneHere } from '../../access.ts';
import { fail } from '../../failure.ts';
import { stop } from '../task-of-worktree.ts';
import { requireRescue } from './find.ts';

interface Input {
  /** Its ref, or a part of it that no other rescue has. */
  readonly rescue: string;
  /** A checkout of this repository, absolute or from the top of the caller's; without it: the worktree of its task. */
  readonly into?: string | undefined;
}

interface RestoredInto {
  readonly rescue: Rescue;
  readonly folder: string;
  readonly files: number;
}

export async function act(access: Access, { rescue: text, into }: Input): Promise<RestoredInto> {
  return access.workspaces(async (context) => {
    const rescue = await requireRescue(context, text);
    const folder =
      into === undefined ? await worktreeFor(context, rescue) : requireCheckout(access.here, into);
    const restored = await restore(context, rescue, folder);
    if (restored.kind === 'in_the_way') refuseInTheWay(folder, restored.inTheWay);
    return { rescue, folder, files: restored.files };
  });
}

export function view({ rescue: { task, ref }, folder, files }: RestoredInto) {
  return { task, rescue: ref, worktree: folder, files };
}

/** The task's worktree, created again if it was removed. */
async function worktreeFor(context: WorkspaceContext, { task: id, ref }: Rescue): Promise<string> {
  const task = await context.board.get('task', id);
  if (task === undefined) {
    fail(
      'not_found',
      `${id} was deleted, so it has no worktree.`,
      `copse rescue restore ${ref} --into . # into the worktree that you are in`,
    );
  }
  const prepared = await prepareWorkspace(context, { task, agent: null, session: task.session });
  if (prepared.kind !== 'prepared') return stop(prepared);
  if (prepared.base !== null) return prepared.path;
  return fail(
    'wrong_status',
    `${id} has no worktree of its own: name a folder to restore into.`,
    `copse rescue restore ${ref} --into . # into the worktree that you are in`,
  );
}

function requireCheckout(here: CloneHere, into: string): string {
  const folder = path.resolve(here.top(), into);
  return (
    here.checkoutAt(folder) ??
    fail('not_found', `${shown(folder)} is not a checkout of this repository.`, 'git worktree list')
  );
}

/** Under the task's lock, so that the worktree is not created or removed meanwhile. */
async function restore(context: WorkspaceContext, rescue: Rescue, folder: string): Promise<Restored> {
  const { git, rescues } = context;
  const done = await git.tryLock(`task-${rescue.task}`, () => rescues.restore(rescue, folder));
  if (done) return done.value;
  const reason = `Another process is creating or removing the worktree of ${rescue.task}.`;
  return stop({ reason, next: ['copse worktrees'] });
}

const NAMED = 20;

function refuseInTheWay(folder: string, paths: readonly string[]): never {
  const lines = paths.slice(0, NAMED).map((file) => `  ${file}`);
  const more = paths.length > NAMED ? [`  … and ${paths.length - NAMED} more`] : [];
  const reason = [`Nothing was restored: ${folder} has newer content in these files:`, ...lines, ...more];
  return stop({
    reason: reason.join('\n'),
    next: ['Commit or move these files, then try again.', 'copse worktrees'],
  });
}
