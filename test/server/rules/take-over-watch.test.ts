/** Which terminals a server gives back when it has no page of them. */

import { expect, test, vi } from 'vitest';

import { TakeOverWatch } from '../../../packages/copse/src/server/output/take-over-watch.ts';

const [task, session] = ['cp-aaaa', 'se-aaaa'];

/** A board with one taken over terminal. */
function watchOf(facts: { hasOtherServers: boolean; failures?: number }) {
  const given: string[] = [];
  const problems: string[] = [];
  let failures = facts.failures ?? 0;
  const state = { status: 'in_progress', claim: { session, node: 'no-1' } };
  const records = {
    task: { id: task, state },
    session: { id: session, task, takenOver: { person: 'anna', isKept: false, at: 1 } },
  };
  const watch = new TakeOverWatch({
    board: {
      get: (kind: 'task' | 'session') => Promise.resolve(records[kind]),
      tasks: () => (failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve([records.task])),
    } as never,
    node: 'no-1' as never,
    giveBack: (id) => Promise.resolve(void given.push(id)),
    hasOtherServers: () => Promise.resolve(facts.hasOtherServers),
    onProblem: (text) => problems.push(text),
    afterMs: 10,
  });
  return { watch, given, problems };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 100));

// promise: take-over
test('a server that starts gives back what it finds, once no other server of the clone runs that may have its page', async () => {
  const facts = { hasOtherServers: true };
  const { watch, given } = watchOf(facts);
  await watch.begin();
  await soon();
  expect(given).toEqual([]);
  facts.hasOtherServers = false;
  await vi.waitFor(() => expect(given).toEqual([task]));
  watch.close();
});

// promise: take-over
test('a server whose page was closed gives it back, also beside other servers', async () => {
  const { watch, given } = watchOf({ hasOtherServers: true });
  watch.opened(session as never);
  await watch.begin();
  await soon();
  expect(given).toEqual([]);
  watch.closed(session as never);
  await vi.waitFor(() => expect(given).toEqual([task]));
  watch.close();
});

test('a server that cannot read the board as it starts says so, and looks again', async () => {
  const { watch, given, problems } = watchOf({ hasOtherServers: false, failures: 2 });
  await watch.begin();
  await vi.waitFor(() => expect(given).toEqual([task]));
  expect(problems).toHaveLength(2);
  expect(problems[0]).toContain('away');
  watch.close();
});
