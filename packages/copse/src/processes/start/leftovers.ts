/** Ends what a command left behind, wherever it has gone; see processes/ports/steps.ts. */

import type { ProcessIdentity } from '../../kernel/process.ts';
import type { EndedLeftovers, Leftovers } from '../ports/steps.ts';
import { endMarked, markedProcesses } from './attempt-processes.ts';
import { endProcesses } from '../end.ts';
import { listProcesses } from '../identity.ts';
import { processesInside } from '../inside.ts';
import { readRecord } from './recorder.ts';

export async function endLeftovers(of: Leftovers): Promise<EndedLeftovers> {
  const { graceMs } = of;
  const started = await endMarked(of.mark, of.records.flatMap(readRecord), { graceMs });
  const strays = await leftInside(of);
  const inside = strays.length === 0 ? { ended: [], remaining: [] } : await endProcesses(strays, { graceMs });
  const count = (one: readonly ProcessIdentity[], other: readonly ProcessIdentity[]) =>
    new Set([...one, ...other].map(({ pid }) => pid)).size;
  return {
    ended: count(started.ended, inside.ended),
    remaining: count(started.remaining, inside.remaining),
  };
}

/** Nobody, if that cannot be found out: then there is nobody to be ended either. */
export async function visitorsOf(folder: string): Promise<readonly ProcessIdentity[]> {
  const inside = await processesInside(folder);
  return inside.known ? inside.processes.map(({ pid, startTime }) => ({ pid, startTime })) : [];
}

async function leftInside(of: Leftovers): Promise<readonly ProcessIdentity[]> {
  const { folder, since, spare } = of;
  const inside = await processesInside(folder);
  if (!inside.known || inside.processes.length === 0) return [];
  const mayStay = new Set(spare === undefined ? [] : await pidsOf(spare));
  const running = await listProcesses();
  const onTerminal = new Set(running.filter(({ hasTerminal }) => hasTerminal).map(({ pid }) => pid));
  const wasThere = new Map(of.visitors.map(({ pid, startTime }) => [pid, startTime]));
  return inside.processes.filter(
    ({ pid, startTime }) =>
      startTime >= since && wasThere.get(pid) !== startTime && !mayStay.has(pid) && !onTerminal.has(pid),
  );
}

async function pidsOf({ mark, records }: NonNullable<Leftovers['spare']>): Promise<readonly number[]> {
  const found = await Promise.all([undefined, ...records].map((record) => markedProcesses(mark, record)));
  return found.flat().map(({ pid }) => pid);
}
