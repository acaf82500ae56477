/** What people are told by a queue that cannot go on, and what they can do about it. */

import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { openMemory } from '../../../packages/copse/src/kernel/system/json-file.ts';
import { announce } from '../../../packages/copse/src/explain/notices/announce.ts';
import { tryAgain, unqueueTasks } from '../../../packages/copse/src/queue/act/control.ts';
import { loadQueue } from '../../../packages/copse/src/queue/act/view.ts';
import { whyTask } from '../../../packages/copse/src/explain/why.ts';
import { type BranchName, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea } from '../../support/cli.ts';
import { QueueScene, until } from '../../support/queue/queue-scene.ts';
import { must } from '../../support/records/tasks.ts';

const area = newArea();

const main = brand<BranchName>('main');

/** Nothing is tried again by itself while the test runs. */
const HOUR_MS = 3_600_000;
const patient = { troubleFirstMs: HOUR_MS, troubleMostMs: HOUR_MS };

test('a person’s retry starts checks that could not run at once, without the delay', async () => {
  await using scene = new QueueScene(area, 'cannot run', { policy: patient });
  scene.knob('signal');
  const id = await scene.queue('a');
  await scene.whileLed(async () => {
    await until('it is stalled', async () => (await scene.merged()).stalled !== null);
    expect((await scene.merged()).state.trouble?.reason).toContain('SIGKILL');
    scene.release('signal');
    expect(await scene.status(id)).toBe('landing');
    must(await tryAgain(await scene.asPerson(), id));
    await until('it landed', async () => (await scene.status(id)) === 'done');
  });
  expect(await scene.events('queue.retried')).toHaveLength(1);
});

test('a person’s retry checks a red target again, and everything lands', async () => {
  const outage = path.join(area, 'outage');
  const command = `test ! -e '${outage}' && sh check.sh`;
  await using scene = new QueueScene(area, 'red target', { check: { command } });
  writeFileSync(outage, '');
  const ids = [await scene.queue('a'), await scene.queue('b')];
  const { blamed } = await scene.whileLed(async () => {
    await until('the target is known to be red', async () => {
      const { stalled } = await scene.merged();
      return stalled?.reason.kind === 'target_red';
    });
    rmSync(outage);
    must(await tryAgain(await scene.asPerson(), ids[0]!));
    await until('they landed', async () =>
      (await Promise.all(ids.map((id) => scene.status(id)))).every((status) => status === 'done'),
    );
  });
  expect(blamed).toEqual([]);
});

test('a change that just landed does not count among those that passed and wait', async () => {
  await using scene = new QueueScene(area, 'just landed');
  const never = await scene.queue('never', { target: 'elsewhere' });
  const landed = await scene.queue('a');
  const waits = await scene.queue('b', { dependsOn: [never] });
  const stop = new AbortController();
  await scene.lead({
    signal: stop.signal,
    // Whoever leads is gone before the next look.
    onStep: (step) => step === 'recorded' && stop.abort(),
  });
  expect([await scene.status(landed), await scene.status(waits)]).toEqual(['done', 'landing']);
  expect((await scene.merged()).state.batches).toMatchObject([{ stage: { is: 'green' } }]);
  const context = await scene.open();
  const { train, entries } = await loadQueue(context, context.landing, main);
  expect(entries.map(({ task }) => task)).toEqual([waits]);
  expect(train).toBe(0);
});

test('how a conflict was resolved is still known after the landing', async () => {
  const landing = { merge_drivers: { 'list.txt': 'git merge-file --union %A %O %B' } };
  const files = { 'list.txt': 'first\n' };
  await using scene = new QueueScene(area, 'resolved', { landing, files });
  const plain = await scene.queue('a', { commit: { files: { 'list.txt': 'first\na\n' } } });
  const resolved = await scene.queue('b', { commit: { files: { 'list.txt': 'first\nb\n' } } });
  const { blamed } = await scene.lead();
  expect(blamed).toEqual([]);
  const context = await scene.open();
  const note = 'Resolved by merge driver: list.txt';
  const [first, second] = await Promise.all(
    [plain, resolved].map(async (id) => must(await whyTask(context, id, { isOrchestrated: false })).because),
  );
  expect(await scene.events('landing.noted')).toMatchObject([{ note }]);
  const told = [first, second].flatMap((lines) =>
    (lines ?? []).filter((line) => line.startsWith('Resolved')),
  );
  expect(told).toEqual([note]);
});

test('a reviewer is notified once why a change left the queue, unless they took it out', async () => {
  await using scene = new QueueScene(area, 'to review');
  const [moved, taken] = [await scene.queue('moved'), await scene.queue('taken')];
  const context = await scene.open();
  const notices: string[] = [];
  const stopping = new AbortController();
  const telling = announce(context, {
    after: await context.board.lastEvent(),
    memory: openMemory(context.home, 'notices'),
    signal: stopping.signal,
    kinds: context.policy.notifications.events,
    channels: [
      {
        name: 'desktop',
        send: async ({ headline, text, command }) => {
          notices.push(`${headline} · ${text} · ${command}`);
          return { kind: 'sent' as const };
        },
      },
    ],
    onProblem: (reason) => expect.fail(reason),
  });
  must(await unqueueTasks(await scene.asPerson(), [taken], null));
  must(await unqueueTasks(context, [moved], 'its branch moved'));
  await until('somebody is told', () => notices.length > 0);
  stopping.abort();
  await telling;
  expect(notices).toEqual([
    `${moved} waits for your review: moved · its branch moved · copse review ${moved}`,
  ]);
});
