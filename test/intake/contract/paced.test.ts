/** Requests to a source: their pace, their limits, and what is not sent again. */

import { describe, expect, it } from 'vitest';

import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { START, newPaced } from '../../support/issue-server/paced.ts';
import { faults } from '../../support/issue-server/server.ts';

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

  it('waits for no limit that ends later than a server would say, or that a wrong clock computed', async () => {
    const { server, paced, wait, memory } = await newPaced();
    server.file('One');
    server.instead.push(faults.primaryLimit(START));
    const most = START + defaultPolicy.sources.mostLimitedMs;
    expect(await paced.get(`${ISSUES}/1`)).toMatchObject({ kind: 'failed', until: most });
    expect(memory().limit?.until).toBe(most);
    // The clock was days ahead when the limit was noted.
    wait(-3 * 86_400_000);
    expect(await paced.get(`${ISSUES}/1`)).toMatchObject({ kind: 'answered' });
  });

  it('keeps only so many answers to ask for again', async () => {
    const { server, paced } = await newPaced('github', { mostAnswers: 2 });
    server.file('One');
    for (const page of ['a', 'b', 'c', 'a', 'c']) await paced.get(`${ISSUES}/1?page=${page}`);
    expect(server.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200, 304]);
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
