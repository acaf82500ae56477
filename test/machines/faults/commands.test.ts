/** Commands whose PostgreSQL is gone: each answers within 15 s with a sentence, the next command and the right exit code. They wait beside each other. */

import { randomBytes } from 'node:crypto';

import { expect, inject, it, vi } from 'vitest';

import { type Finished, copse, newArea, newRepository } from '../../support/cli.ts';
import { Proxy } from '../support/proxy.ts';

const area = newArea();

const COMMANDS = [
  ['status'],
  ['list'],
  ['add', 'Another'],
  ['inbox'],
  ['events', '--last', '3'],
  ['queue'],
  ['plan', 'list'],
  ['agents'],
  ['work', 'cp-1'],
  ['cost'],
  ['doctor'],
] as const;

async function newBoard() {
  const direct = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`;
  const proxy = await Proxy.to(direct);
  const at = { cwd: newRepository(area), env: { COPSE_BOARD: proxy.through(direct) } };
  expect(await copse(['add', 'One'], at)).toMatchObject({ code: 0 });
  return { proxy, at };
}

const within15s = async (answered: Promise<Finished>): Promise<Finished> => {
  const began = performance.now();
  const finished = await answered;
  expect(performance.now() - began).toBeLessThan(15_000);
  return finished;
};

/** The sentence, without what differs from run to run; the whole output when there is none. */
function sentenceOf({ code, stdout, stderr }: Finished): string {
  const all = `${stdout}${stderr}`;
  const isPlain = code === 1 && !/secret|Unexpected error|\.[jt]s:\d/.test(all);
  const said =
    /The (?:connection to the )?board at postgres:\/\/127\.0\.0\.1:\d+\/postgres\S* (cannot be reached|was lost): .*\n(?: {4}.*\n)?.*copse (?:doctor|events)/;
  return (isPlain ? said.exec(all)?.[1] : undefined) ?? `${code} ${all}`;
}

// promise: board-away
it.concurrent.each(['refuse', 'blackhole'] as const)('from the start (%s)', async (kind) => {
  const { proxy, at } = await newBoard();
  await using _ = proxy;
  await proxy.apply({ kind });
  const said = await Promise.all(COMMANDS.map(async (argv) => sentenceOf(await within15s(copse(argv, at)))));
  expect(said).toEqual(COMMANDS.map(() => 'cannot be reached'));
});

it.concurrent.each([
  [['list'], 'before', 'half-open'],
  [['list'], 'before', 'blackhole'],
  [['status'], 'before', 'half-open'],
] as const)('in the middle of %s (%s the question: %s)', async (argv, when, kind) => {
  const { proxy, at } = await newBoard();
  await using _ = proxy;
  const fired = proxy.when({ text: '."tasks"', at: when, fault: { kind } });
  const finished = await within15s(copse(argv, at));
  await fired;
  expect(sentenceOf(finished)).toBe('was lost');
});

// promise: recorded-once
it.concurrent.each(['half-open', 'cut'] as const)(
  'a change that the server recorded before the connection was lost counts, once (%s)',
  async (kind) => {
    const { proxy, at } = await newBoard();
    await using _ = proxy;
    const fired = proxy.when({ text: 'commit\0', at: 'after', fault: { kind: 'blackhole' } });
    const adding = within15s(copse(['add', 'Only once'], at));
    await fired;
    await vi.waitUntil(() => proxy.connections > 0, { timeout: 60_000 });
    await proxy.apply({ kind });
    await proxy.heal();
    expect(await adding).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await copse(['list', '--json'], at);
    const { tasks } = JSON.parse(stdout) as { readonly tasks: readonly { readonly title: string }[] };
    expect(tasks.map(({ title }) => title).toSorted()).toEqual(['One', 'Only once']);
  },
);
