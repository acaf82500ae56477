/** Requests to a source: their pace, their limits, and what is not sent again. */

import { describe, expect, it } from 'vitest';

import type { Timer } from '../../../packages/copse/src/kernel/clock.ts';
import { type Timestamp, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { Paced } from '../../../packages/copse/src/intake/forges/paced.ts';
import type { SourceMemories, SourceMemory } from '../../../packages/copse/src/intake/port.ts';
import { fetchApi } from '../../../packages/copse/src/review/forges/api.ts';
import { IssueServer, faults } from '../../support/issue-server/server.ts';

const START = 1_700_000_000_000;

async function newPaced() {
  const server = await IssueServer.start('github');
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
  const headers = { authorization: `Bearer ${server.token}` };
  const base = new URL(server.address);
  const api = async () => fetchApi({ base, secret: server.token, headers, timeoutMs: 5_000 });
  const paced = new Paced({ source: 'github', clock, memories, api });
  const wait = (ms: number) => (nowMs += ms);
  return { server, paced, sleeps, wait, memory: () => memory };
}

const ISSUES = 'repos/octo/trees/issues';

describe('a request', () => {
  it('that would bring what is known is answered without its body, and gives the same', async () => {
    const { server, paced } = await newPaced();
    server.file('One');
    const first = await paced.get(`${ISSUES}/1`);
    const second = await paced.get(`${ISSUES}/1`);
    expect(server.requests.map(({ status }) => status)).toEqual([200, 304]);
    expect(second).toMatchObject({ kind: 'answered', status: 200, body: { title: 'One' } });
    expect(second).toEqual(first);
  });

  it('follows a list to its end, by the query of the Link header only', async () => {
    const { server, paced } = await newPaced();
    server.pageSize = 2;
    for (const title of ['a', 'b', 'c', 'd', 'e']) server.file(title);
    const listed = await paced.list(`${ISSUES}?labels=copse&per_page=100`);
    expect(listed.kind === 'listed' && listed.all).toHaveLength(6);
    expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set([ISSUES]));
    expect(server.requests.map(({ query }) => query.get('labels'))).toEqual(['copse', 'copse', 'copse']);
  });

  it('is not sent before a rate limit ends, and the limit is remembered', async () => {
    const { server, paced, wait, memory } = await newPaced();
    server.file('One');
    const reset = START / 1_000 + 120;
    server.instead.push(faults.primaryLimit(reset));
    expect(await paced.get(`${ISSUES}/1`)).toMatchObject({ kind: 'failed', until: reset * 1_000 });
    expect(memory().limit).toEqual({ remaining: 0, until: reset * 1_000 });
    expect(await paced.get(`${ISSUES}/1`)).toMatchObject({ kind: 'failed' });
    expect(server.requests).toHaveLength(1);
    wait(120_001);
    expect(await paced.get(`${ISSUES}/1`)).toMatchObject({ kind: 'answered' });
    expect(memory().limit).toEqual({ remaining: 4_999, until: null });
  });

  it('waits as long as a secondary limit says', async () => {
    const { server, paced } = await newPaced();
    server.instead.push(faults.secondaryLimit(7));
    expect(await paced.get(`${ISSUES}/1`)).toMatchObject({ kind: 'failed', until: START + 7_000 });
  });

  it.each([
    ['a server in trouble', faults.badGateway],
    ['a connection that ends', 'hang up'],
  ] as const)('fails with %s, and may be sent again', async (_, fault) => {
    const { server, paced } = await newPaced();
    server.file('One');
    server.instead.push(fault);
    expect(await paced.get(`${ISSUES}/1`)).toMatchObject({ kind: 'failed', until: null });
    expect(await paced.get(`${ISSUES}/1`)).toMatchObject({ kind: 'answered' });
  });

  it('for an item that is gone is refused', async () => {
    const { paced } = await newPaced();
    expect(await paced.get(`${ISSUES}/9`)).toMatchObject({ kind: 'refused', status: 404 });
  });
});

it('two writes are at least a second apart, also after one that failed', async () => {
  const { server, paced, sleeps, wait } = await newPaced();
  server.file('One');
  server.instead.push('lose the answer');
  await paced.write('POST', `${ISSUES}/1/comments`, { body: 'a' });
  expect(sleeps).toEqual([]);
  wait(400);
  await paced.write('POST', `${ISSUES}/1/comments`, { body: 'b' });
  await paced.write('POST', `${ISSUES}/1/comments`, { body: 'c' });
  wait(5_000);
  await paced.write('POST', `${ISSUES}/1/comments`, { body: 'd' });
  expect(sleeps).toEqual([600, 1_000]);
});
