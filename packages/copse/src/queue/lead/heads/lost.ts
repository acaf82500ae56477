/**
 * A finished commit that the remote refused is only on the machine that made it. While that machine may come back, its landing
 * waits. When it is gone, the task is worked on again, from the newest snapshot that the remote has.
 */

import { decided } from '../../../kernel/decision.ts';
import { type LedgerEntryId, type NodeId, brand, drawId, timestamp } from '../../../kernel/ids.ts';
import { change } from '../../../board/context.ts';
import { isGone, silenceText } from '../../../machines/rules/node.ts';
import { decideHeadLost } from '../../../tasks/rules/outcomes.ts';
import { machineName } from '../../../workspaces/act/shared/elsewhere.ts';
import type { Landing } from '../../rules/landing.ts';
import type { RunContext } from '../../context.ts';
import { type Lead, requireLead } from '../leadership.ts';

/** No time by the clock of this machine: the next attempt may be on a machine whose clock is behind. */
const AT_ONCE = timestamp(0);

/** The remote has just said that it lacks the commit. True when the task left the queue. */
export async function takeBackLost(
  context: RunContext,
  lead: Lead,
  landing: Landing,
  machine: NodeId,
): Promise<boolean> {
  const { board, policy, random } = context;
  const node = await board.get('node', machine);
  const silentMs = (await board.silences()).get(machine) ?? null;
  if (node === undefined || !isGone(node, silentMs, policy)) return false;
  const why = node.leftAt === null ? `was ${silenceText(silentMs)}` : 'left the board';
  const name = await machineName(board, machine);
  const reason = `Its finished commit ${landing.head.slice(0, 10)} never reached the remote, and ${name} ${why}.`;
  const text = `${reason} It is worked on again, from what the remote has of it. The commit is on ${name}, if that machine comes back.`;
  const taken = await change(context, async (change) => {
    await requireLead(change, lead);
    const task = await change.require('task', landing.task);
    const current = await change.require('landing', landing.id);
    await change.apply(decideHeadLost(task, current, { reason, until: AT_ONCE }, change.at));
    const id = brand<LedgerEntryId>(drawId('le-', random));
    const of = { id, task: task.id, session: task.session, kind: 'crash', text, at: change.at } as const;
    await change.apply(decided({ type: 'ledger.added', ...of }));
  });
  return taken.kind === 'done';
}
