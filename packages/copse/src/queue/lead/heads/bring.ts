/**
 * Brings the commits of open landings that other machines finished, from the refs that their runners pushed
 * (agents/run/share/travel.ts). What is not here yet, or cannot be had, is the reason why that one landing waits, and the
 * others go on.
 */

import type { LandingId, NodeId } from '../../../kernel/ids.ts';
import { backoffMs } from '../../../kernel/backoff.ts';
import type { WorkRef } from '../../../git/port.ts';
import type { Landing } from '../../rules/landing.ts';
import type { RunContext } from '../../context.ts';
import { type Lead, whileRenewing } from '../leadership.ts';
import type { QueueMemory } from '../memory.ts';
import { takeBackLost } from './lost.ts';
import type { FetchEnd } from './fetches.ts';
import { waitInQueue } from '../waits.ts';

/** The landings whose commits are here. */
export async function bringHeads(
  context: RunContext,
  lead: Lead,
  landings: readonly Landing[],
  memory: Pick<QueueMemory, 'missing' | 'heads'>,
): Promise<readonly Landing[]> {
  const lacking = await lackingHeads(context, landings);
  if (lacking.size === 0) return landings;
  const nowMs = context.clock.elapsedMs();
  const { heads } = memory;
  const due = [...lacking.values()].filter(
    ({ landing: { id } }) => heads.isFetching(id) || isDue(memory, id, nowMs),
  );
  const wanted = due.map(({ landing: { id }, ref }) => ({ id, ref }));
  await whileRenewing(context, lead, () => heads.bring(wanted));
  for (const { landing, node } of due) {
    if ((await context.git.tip(landing.head)) !== undefined) {
      lacking.delete(landing.id);
      memory.missing.delete(landing.id);
      continue;
    }
    const end = heads.endOf(landing.id);
    if (end !== undefined) againLater(context, memory, landing.id);
    const isLacking = end?.kind === 'answered' && node !== null;
    if (isLacking && (await takeBackLost(context, lead, landing, node))) continue;
    const detail = end === undefined ? 'it is being fetched.' : missingText(end);
    await waitInQueue(context, lead, landing, { kind: 'head_missing', head: landing.head, node, detail });
  }
  return landings.filter(({ id }) => !lacking.has(id));
}

interface Lacking {
  readonly landing: Landing;
  readonly ref: WorkRef;
  readonly node: NodeId | null;
}

/** What this machine itself lost is found later, as a branch that is gone. */
async function lackingHeads(
  context: RunContext,
  landings: readonly Landing[],
): Promise<Map<LandingId, Lacking>> {
  const { board, git, node: here } = context;
  const lacking = new Map<LandingId, Lacking>();
  if (board.engine !== 'postgres' || (await git.remoteName()) === undefined) return lacking;
  for (const landing of landings) {
    if ((await git.tip(landing.head)) !== undefined) continue;
    const { ref, node } = await originOf(context, landing);
    if (ref !== undefined && node !== here) lacking.set(landing.id, { landing, ref, node });
  }
  return lacking;
}

/** The ref that its head was pushed to, and the machine that did so. Landings of an older Copse do not say the token. */
export async function originOf(
  { board }: Pick<RunContext, 'board'>,
  { attempt: id, task, token: queued }: Pick<Landing, 'attempt' | 'task' | 'token'>,
): Promise<{ readonly ref: WorkRef | undefined; readonly node: NodeId | null }> {
  const attempt = id === null ? undefined : await board.get('attempt', id);
  const token = queued ?? attempt?.token ?? (await board.get('task', task))?.token;
  return { ref: token === undefined ? undefined : { task, token }, node: attempt?.node ?? null };
}

function missingText(end: FetchEnd): string {
  return end.kind === 'failed' ? end.reason : 'the remote does not have it yet.';
}

function againLater(
  { clock, policy }: RunContext,
  { missing }: Pick<QueueMemory, 'missing'>,
  id: LandingId,
): void {
  const failures = (missing.get(id)?.failures ?? 0) + 1;
  const { firstAgainMs: firstMs, mostAgainMs: mostMs } = policy.travel;
  missing.set(id, { failures, againMs: clock.elapsedMs() + backoffMs(failures, { firstMs, mostMs }) });
}

function isDue({ missing }: Pick<QueueMemory, 'missing'>, id: LandingId, nowMs: number): boolean {
  return nowMs >= (missing.get(id)?.againMs ?? -Infinity);
}
