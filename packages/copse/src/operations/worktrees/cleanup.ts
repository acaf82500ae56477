import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import { type CleanedUp, type RemovedOne, cleanUp, withIgnored } from '../../workspaces/discard/cleanup.ts';
import { removeWorkspace } from '../../workspaces/discard/remove.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { keptView, removedView } from '../views/workspace-views.ts';
import { refuseElsewhere, requireTaskIdAmong, stop, tasksWithWorktrees } from './task-of-worktree.ts';

interface Input {
  /** Without it: the worktrees of all done or cancelled tasks. */
  readonly task?: string | undefined;
  /** Remove those too that have work that did not land; their files are rescued first. */
  readonly unlanded?: boolean | undefined;
  /** The same, and stop its agent. */
  readonly force?: boolean | undefined;
  /** Also a branch with unmerged commits. */
  readonly deleteBranch?: boolean | undefined;
}

/** `hasPaused`: its task was in progress, and is paused now. */
type CleanedOne = RemovedOne & { readonly why?: string; readonly hasPaused?: boolean };

export type Cleaned = Omit<CleanedUp, 'removed'> & { readonly removed: readonly CleanedOne[] };

export async function act(access: Access, input: Input): Promise<Cleaned> {
  // One that was not declined has cleaned up, or failed.
  return (await cleanUpAsking(access, input)) ?? { removed: [], kept: [] };
}

export function view({ removed, kept }: Cleaned) {
  return { removed: removed.map((one) => removedView(one)), kept: kept.map(keptView) };
}

/** Asks a person whether a worktree may go that has work. */
export type MayRemove = (question: string) => Promise<boolean>;

/** Undefined when the person declined for the named task. */
export async function cleanUpAsking(
  access: Access,
  input: Input,
  ask?: MayRemove,
): Promise<Cleaned | undefined> {
  const { task, unlanded = false, force: isForced = false, deleteBranch = false } = input;
  if (task === undefined && deleteBranch) {
    fail(
      'invalid',
      'A branch with unmerged commits is deleted only with a named task, one at a time.',
      'copse worktrees # to see the ids',
    );
  }
  const mayRemove = unlanded ? async () => true : ask;
  return access.workspaces<Cleaned | undefined>((context) =>
    task === undefined
      ? cleanUp(context, { isForced, mayRemove: mayRemove ?? (async () => false) })
      : removeNamed(context, task, { isForced, deleteBranch, mayRemove }),
  );
}

/** A caller that cannot be asked gets a statement. */
function unasked(question: string): string {
  return question.replace(/^Remove (the worktree of \S+)\?/, 'Not removed: $1 needs a confirmation.');
}

interface NamedRemoval {
  readonly isForced: boolean;
  readonly deleteBranch: boolean;
  readonly mayRemove: MayRemove | undefined;
}

async function removeNamed(
  context: WorkspaceContext,
  text: string,
  { isForced, deleteBranch, mayRemove }: NamedRemoval,
): Promise<Cleaned | undefined> {
  const task = await requireTaskIdAmong(context, text, await tasksWithWorktrees(context));
  await refuseElsewhere(context, task);
  const request = { by: 'person', isNamed: true, isForced, deleteBranch } as const;
  const statusNow = async () => (await context.board.get('task', task))?.state.status;
  const before = await statusNow();
  let outcome = await removeWorkspace(context, task, request);
  if (outcome.kind === 'question') {
    const { question } = outcome;
    if (mayRemove === undefined)
      fail(
        'wrong_status',
        unasked(question),
        `copse cleanup ${task} --yes # to remove it; uncommitted files are rescued first`,
      );
    if (!(await mayRemove(question))) return undefined;
    outcome = await removeWorkspace(context, task, { ...request, isForced: true });
  }
  if (outcome.kind === 'removed') {
    const hasPaused = before === 'in_progress' && (await statusNow()) === 'paused';
    return { removed: [{ ...(await withIgnored(context, outcome)), hasPaused }], kept: [] };
  }
  return 'reason' in outcome ? stop(outcome) : undefined;
}
