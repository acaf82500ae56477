/** Requests to a server of issues, with a clock and a memory of the test's own. */

import type { Timer } from '../../../packages/copse/src/kernel/clock.ts';
import { type Timestamp, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { Paced, type PacedOptions } from '../../../packages/copse/src/intake/forges/paced.ts';
import type { SourceMemories, SourceMemory } from '../../../packages/copse/src/intake/port.ts';
import { fetchApi } from '../../../packages/copse/src/review/forges/api.ts';
import { IssueServer } from './server.ts';

export const START = 1_700_000_000_000;

export async function newPaced(kind: IssueServer['kind'] = 'github', more: Partial<PacedOptions> = {}) {
  const server = await IssueServer.start(kind);
  let nowMs = START;
  const sleeps: number[] = [];
  const clock: Timer = {
    now: () => timestamp(nowMs),
    elapsedMs: () => nowMs,
    sleep: async (ms) => {
      sleeps.push(ms);
      nowMs += ms;
    },
  };
  let memory: SourceMemory = { syncedAt: null, problem: null, limit: null };
  let wrote: Timestamp | null = null;
  const memories: SourceMemories = {
    load: () => memory,
    save: (_, change) => (memory = { ...memory, ...change }),
    wroteAt: () => wrote,
    wrote: (at) => (wrote = at),
  };
  const headers = { authorization: kind === 'linear' ? server.token : `Bearer ${server.token}` };
  const base = new URL(server.address);
  const api = async () => fetchApi({ base, secret: server.token, headers, timeoutMs: 5_000 });
  const paced = new Paced({ source: kind, clock, memories, api, ...more });
  const wait = (ms: number) => (nowMs += ms);
  return { server, paced, sleeps, wait, memory: () => memory };
}
