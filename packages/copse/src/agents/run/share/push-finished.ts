/**
 * `workspace.push_on_success`: pushes the branch of finished work. For a task in review the push is recorded with the task and
 * done by the orchestrator (pull-request-open.ts). A task that lands at once has no such record, so it is pushed here.
 */

import type { GateLook } from '../finish.ts';
import type { RunContext } from '../../../queue/context.ts';
import { workspaceOf } from '../../../workspaces/act/context.ts';
import type { TaskId } from '../../../kernel/ids.ts';

export type PushedFinished =
  /** `push`: still to be pushed, by the orchestrator. `note`: a failed push that does not matter. */
  | { readonly kind: 'finished'; readonly push: boolean; readonly note: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

export async function pushFinished(
  context: RunContext,
  id: TaskId,
  gate: GateLook,
  {
    policy,
    settings,
  }: {
    readonly policy: 'auto' | 'review' | 'pr' | 'none';
    readonly settings: Pick<RunContext['settings'], 'push_on_success' | 'on_push_failure'>;
  },
): Promise<PushedFinished> {
  const { head, verdict } = gate;
  const hasWork = head !== null && verdict.kind === 'passed' && verdict.hasChanges;
  if (!settings.push_on_success || !hasWork || policy === 'pr')
    return { kind: 'finished', push: false, note: null };
  if (policy === 'review') return { kind: 'finished', push: true, note: null };
  const branch = (await workspaceOf(context, id))?.worktree?.branch;
  if (branch === undefined) return { kind: 'finished', push: false, note: null };
  const tries = settings.on_push_failure === 'retry' ? context.policy.pullRequest.pushTries : 1;
  let reason = '';
  for (let tried = 1; tried <= tries; tried += 1) {
    const pushed = await context.merging.push(branch, head);
    if (pushed.kind === 'pushed') return { kind: 'finished', push: false, note: null };
    reason = `${branch} could not be pushed: ${pushed.reason}`;
    // A rejected push would be rejected again.
    if (pushed.because !== 'unreachable') break;
    if (tried < tries) await context.clock.sleep(context.policy.pullRequest.pushAgainMs * tried);
  }
  if (settings.on_push_failure === 'fail') return { kind: 'failed', reason };
  return { kind: 'finished', push: false, note: reason };
}
