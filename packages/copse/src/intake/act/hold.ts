/**
 * One process at a time looks at the sources: within a clone it holds a lock file, among machines it holds the source's
 * resource on the board. Tasks need neither, because an item's key is unique; comments do, because a forge takes two.
 *
 * A machine writes only within half of a hold, and another takes over only after a whole hold of silence.
 */

import { type ResourceName, type Timestamp, brand } from '../../kernel/ids.ts';
import { change } from '../../board/context.ts';
import { decideGiveBack, decideTake } from '../../machines/rules/fleet.ts';
import type { LeadSilence } from '../../queue/lead/leadership.ts';
import type { RunContext } from '../../queue/context.ts';

export interface Hold {
  /** Asked before every write to a source. False: another machine holds it now. */
  isOurs(): Promise<boolean>;
}

export type SourceHeld<T> =
  | { readonly kind: 'held'; readonly value: T }
  /** Null: another process of this clone. */
  | { readonly kind: 'busy'; readonly holder: string | null };

export interface HoldOptions {
  readonly silence: LeadSilence;
  /** A command waits for an orchestrator of this clone; an orchestrator does not wait. */
  readonly patienceMs?: number;
  /** An orchestrator looks again soon. */
  readonly isKept?: boolean;
}

export async function holdSource<T>(
  context: RunContext,
  source: string,
  work: (hold: Hold) => Promise<T>,
  { silence, patienceMs = 0, isKept = false }: HoldOptions,
): Promise<SourceHeld<T>> {
  // A source that a schedule defines is named agent/schedule; an id has no slash.
  const id: ResourceName = brand(`source:${source.replaceAll('/', ':')}`);
  const isAlone = context.board.engine === 'sqlite';
  const done = await context.git.tryLock(
    'sources',
    async (): Promise<SourceHeld<T>> => {
      const isOurs = async () => isAlone || (await take(context, id, silence));
      if (!(await isOurs())) {
        const holder = (await context.board.get('resource', id))?.holder ?? null;
        return { kind: 'busy', holder };
      }
      try {
        return { kind: 'held', value: await work({ isOurs }) };
      } finally {
        if (!isAlone && !isKept) await giveBack(context, id, silence).catch(() => {});
      }
    },
    { patienceMs },
  );
  return done?.value ?? { kind: 'busy', holder: null };
}

async function take(context: RunContext, id: ResourceName, silence: LeadSilence): Promise<boolean> {
  const { board, clock, node, policy } = context;
  const { holdMs } = policy.sources;
  const found = await board.get('resource', id);
  const nowMs = clock.elapsedMs();
  if (found?.holder === node && silence.sinceTaken(id, found.token, nowMs) < holdMs / 2) return true;
  const look = { nowMs, longestMs: holdMs };
  const isSilent = found !== undefined && silence.see(id, found.token, look) >= holdMs;
  const taken = await change(context, async (change) => {
    const resource = await change.board.get('resource', id);
    const until = (change.at + holdMs) as Timestamp;
    const silent = isSilent ? found.token : null;
    await change.apply(decideTake(id, resource, node, { until, silent }, change.at));
    return (await change.require('resource', id)).token;
  });
  if (taken.kind === 'refused') return false;
  silence.take(id, taken.value, nowMs);
  return true;
}

/** At the end of a process that kept them. One that cannot be given back is taken over after its silence. */
export async function giveBackSources(context: RunContext, silence: LeadSilence): Promise<void> {
  for (const { id } of silence.own) await giveBack(context, id, silence).catch(() => {});
}

async function giveBack(context: RunContext, id: ResourceName, silence: LeadSilence): Promise<void> {
  const own = silence.own.find((one) => one.id === id);
  if (own === undefined) return;
  silence.forget(id);
  await change(context, async (change) => {
    await change.apply(decideGiveBack(await change.require('resource', id), own.token, change.at));
  });
}
