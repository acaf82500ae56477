/**
 * Gives a change back that the queue cannot land. rules/hand-back.ts decides to whom; every leader of a queue, the
 * orchestrator as well as `copse merge`, comes through here.
 */

import type { AgentName, CommitId } from '../../kernel/ids.ts';
import { type Outcome, change } from '../../board/context.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { type HandbackCause, decideGiveUp } from '../../tasks/rules/outcomes.ts';
import type { AttentionCause } from '../../tasks/rules/task.ts';
import type { Landing } from '../rules/landing.ts';
import { type QueueCause, decideRecipient, landingToResolve } from '../rules/hand-back.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { type Lead, requireLead } from './leadership.ts';
import { resolveByTask } from '../act/conflict-task.ts';
import { type RunContext, agentNamed } from '../context.ts';

export interface RejectedLanding {
  readonly landing: Landing;
  readonly cause: QueueCause;
  /** The tip of the target that it was tried on. */
  readonly tip: CommitId;
}

/** Starts the agent that worked on it. A refusal means that it stays in the queue and is retried. */
export type AskAgent = (rejected: RejectedLanding, agent: AgentName) => Promise<Outcome<unknown>>;

/** Only while the lead holds. `askAgent` is null while a person waits in a terminal for this landing. */
export async function handBack(
  context: RunContext,
  lead: Lead,
  rejected: RejectedLanding,
  askAgent: AskAgent | null,
): Promise<Outcome<unknown>> {
  const { landing, cause } = rejected;
  const task = await context.board.get('task', landing.task);
  const session = task?.session ? await context.board.get('session', task.session) : undefined;
  const agent = session && agentNamed(context, session.agent);
  const recipient = decideRecipient({
    cause,
    onConflict: (agent?.landing ?? context.landing).on_conflict,
    isResolver: task !== undefined && landingToResolve(task) !== undefined,
    agent: agent && session ? session.agent : null,
    isPersonWaiting: askAgent === null,
  });
  switch (recipient.kind) {
    case 'agent':
      if (askAgent === null) throw new Error(`No agent may be asked about ${landing.task}`);
      return askAgent(rejected, recipient.agent);
    case 'resolver':
      return resolveByTask(context, lead, landing, cause);
    case 'person':
      return giveUpLanding(context, landing, cause, lead);
    default:
      return unreachable(recipient);
  }
}

/** Sets a landing aside for a person: its task needs attention. With a lead, only while that one holds. */
export async function giveUpLanding(
  context: RunContext,
  landing: Landing,
  {
    because,
    reason,
    files,
    with: others,
  }: Omit<HandbackCause, 'because'> & { readonly because: AttentionCause },
  lead: Lead | null = null,
): Promise<Outcome<null>> {
  return change(context, async (change) => {
    if (lead !== null) await requireLead(change, lead);
    const task = await change.require('task', landing.task);
    const current = await change.require('landing', landing.id);
    const cause = { because, reason, ...(files && { files }), ...(others && { with: others }) };
    await change.apply(decideGiveUp(task, { landing: current }, cause, change.at));
    await keepWorkspace(change, { task: task.id, node: context.node }, { because, reason });
    return null;
  });
}
