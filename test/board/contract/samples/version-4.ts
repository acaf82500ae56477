/**
 * A board of version 4: as before, and landings from the time when each move of a target landed one of them, and when the
 * reason why one waits was a sentence.
 */

import { version3 } from './version-3.ts';

const commit = (digit: string) => digit.repeat(40);
const intent = { oldTip: commit('a'), newTip: commit('b') };
const at = 1_700_000_001_000;

const sentence = 'main could not be pushed: protected';

function landing(id: string, status: string, since: number, of: object, waiting: string | null = null) {
  const data = {
    id,
    task: 'cp-old1',
    target: 'main',
    attempt: null,
    head: commit('1'),
    queuedAt: at,
    waiting,
    state: { status, since, ...of },
  };
  return {
    id,
    data: JSON.stringify(data),
    task: 'cp-old1',
    target: 'main',
    status,
    created_at: at,
  };
}

interface Told {
  readonly type: string;
  readonly at: number;
  readonly [detail: string]: unknown;
}

function event(number: number, id: string, of: Told) {
  const data = JSON.stringify({ by: { kind: 'person', name: null }, event: { id, ...of } });
  return { number, at: of.at, type: of.type, subject: id, task: 'cp-old1', data };
}

const queued = {
  type: 'landing.queued',
  at,
  task: 'cp-old1',
  target: 'main',
  attempt: null,
  head: commit('1'),
};

export const version4 = {
  ...version3,
  board: [{ id: 'b0a7d', version: 4, created_at: 1_700_000_000_000, last_event: 13 }],
  sessions: version3.sessions.map((session) => Object.assign({}, session, { data: withUse(session.data) })),
  landings: [
    landing('la-old1', 'landed', at + 3, { commit: commit('b') }),
    landing('la-old2', 'merging', at + 5, { intent }),
    landing('la-old3', 'queued', at + 7, {}, sentence),
  ],
  events: [
    ...version3.events,
    event(5, 'la-old1', queued),
    event(6, 'la-old1', { type: 'landing.merging', at: at + 1 }),
    event(7, 'la-old1', { type: 'landing.journalled', at: at + 2, intent }),
    event(8, 'la-old1', { type: 'landing.landed', at: at + 3, commit: commit('b') }),
    event(9, 'la-old2', queued),
    event(10, 'la-old2', { type: 'landing.merging', at: at + 5 }),
    event(11, 'la-old2', { type: 'landing.journalled', at: at + 6, intent }),
    event(12, 'la-old3', queued),
    event(13, 'la-old3', { type: 'landing.waiting', at: at + 7, reason: sentence }),
  ],
};

function withUse(data: string): string {
  const usage = { input: 0, cached: 0, output: 0, dollars: null };
  return JSON.stringify({ usage, question: null, ...(JSON.parse(data) as object) });
}
