import { existsSync } from 'node:fs';
import path from 'node:path';

import { prepareWorkspace } from '../../../../workspaces/act/prepare.ts';
import type { WorkspaceContext } from '../../../../workspaces/act/context.ts';
import { findRepository, requireRepository } from '../../../../compose/open.ts';
import { shown } from '../../../../kernel/text.ts';
import type { Rescue, Restored } from '../../../../git/port.ts';
import { fail } from '../../../../operations/failure.ts';
import type { Cli, Invocation } from '../../../invocation.ts';
import { shellWord } from '../../../../kernel/shell.ts';
import { requireRescue } from './require-rescue.ts';
import { stop, withWorkspaces } from '../../../with-workspaces.ts';

interface Options {
  readonly into?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withWorkspaces(cli, async (context) => {
    const rescue = await requireRescue(context, words[0] ?? '');
    const folder =
      options.into === undefined
        ? await worktreeFor(context, rescue)
        : requireCheckout(cli, path.resolve(cli.cwd, options.into));
    const restored = await restore(context, rescue, folder);
    if (restored.kind === 'in_the_way') refuseInTheWay(folder, restored.inTheWay);
    const { ref, task } = rescue;
    const { files } = restored;
    if (options.json) {
      cli.output.json({ task, rescue: ref, worktree: folder, files });
    } else {
      cli.output.line(
        `Restored ${files} ${files === 1 ? 'file' : 'files'} of ${task}: cd ${shellWord(folder)}`,
      );
    }
  });
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
    `${id} has no worktree of its own: name a folder with --into.`,
    `copse rescue restore ${ref} --into . # into the worktree that you are in`,
  );
}

function requireCheckout(cli: Cli, folder: string): string {
  const found = existsSync(folder) ? findRepository(folder) : undefined;
  if (found?.commonDir === requireRepository(cli).commonDir && found.top !== found.commonDir)
    return found.top;
  return fail('not_found', `${shown(folder)} is not a checkout of this repository.`, 'git worktree list');
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
    next: ['commit or move these files, then try again', 'copse worktrees'],
  });
}
