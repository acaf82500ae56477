/**
 * `workspace.push_on_success`: the branch of finished work goes to the remote before the task goes on. Work that waits for a
 * person is pushed by whoever looks next (pull-request-open.ts), because the wish for it is kept with the task; of work that
 * lands at once, or is done, nothing is left that could keep it, so its push is tried here.
 */

import type { GateLook } from './finish.ts';
import type { RunContext } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import type { TaskId } from '../../kernel/ids.ts';

export type PushedFinished =
  | { readonly goesOn: true; readonly push: boolean; readonly note: string | null }
  | { readonly goesOn: false; readonly reason: string };

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
  const hasWork = head !== null && verdict.gate === 'open' && verdict.hasChanges;
  if (!settings.push_on_success || !hasWork || policy === 'pr')
    return { goesOn: true, push: false, note: null };
  if (policy === 'review') return { goesOn: true, push: true, note: null };
  const branch = (await workspaceOf(context, id))?.worktree?.branch;
  if (branch === undefined) return { goesOn: true, push: false, note: null };
  const tries = settings.on_push_failure === 'retry' ? context.policy.pullRequest.pushTries : 1;
  let reason = '';
  for (let tried = 1; tried <= tries; tried += 1) {
    const pushed = await context.merging.push(branch, head);
    if (pushed.pushed) return { goesOn: true, push: false, note: null };
    reason = `${branch} could not be pushed: ${pushed.reason}`;
    // What was refused for what it is would be refused again.
    if (pushed.because !== 'unreachable') break;
    if (tried < tries) await context.clock.sleep(context.policy.pullRequest.pushAgainMs * tried);
  }
  if (settings.on_push_failure === 'fail') return { goesOn: false, reason };
  return { goesOn: true, push: false, note: reason };
}
