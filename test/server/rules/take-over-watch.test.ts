/** Which terminals a server gives back when it has no page of them. */

import { expect, test, vi } from 'vitest';

import { TakeOverWatch } from '../../../packages/copse/src/server/output/take-over-watch.ts';

const [task, session] = ['cp-aaaa', 'se-aaaa'];

/** A board with one taken over terminal. */
function watchOf(facts: { hasOtherServers: boolean }) {
  const given: string[] = [];
  const state = { status: 'in_progress', claim: { session, node: 'no-1' } };
  const records = {
    task: { id: task, state },
    session: { id: session, task, takenOver: { person: 'anna', isKept: false, at: 1 } },
  };
  const watch = new TakeOverWatch({
    board: {
      get: (kind: 'task' | 'session') => Promise.resolve(records[kind]),
      tasks: () => Promise.resolve([records.task]),
    } as never,
    node: 'no-1' as never,
    giveBack: (id) => Promise.resolve(void given.push(id)),
    hasOtherServers: () => Promise.resolve(facts.hasOtherServers),
    onProblem: () => {},
    afterMs: 10,
  });
  return { watch, given };
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
