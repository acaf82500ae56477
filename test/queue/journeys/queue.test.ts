/** What people see of the queue and do to it, with real checks and whoever leads it going on beside. */

import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, test } from 'vitest';

import { answer, copse, finished, git, newArea, printed, startCopse } from '../../support/cli.ts';
import { type Scene, endAgents, newScene, refusedBy } from '../../support/agents/scripted-agents.ts';
import { commandsIn } from '../../support/pasted.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** Waits while it is told to, and is red where a file says so. */
const CHECK = `while test -f "$HOLD"; do sleep 0.05; done
if test -f broken; then echo "first line"; echo "expected 3 but got 4"; exit 1; fi
`;

interface Entry {
  readonly task: string;
  readonly position: number;
  readonly state: string;
  readonly why: string;
  readonly behind: readonly string[];
  readonly range: { readonly fromMs: number; readonly toMs: number } | null;
}

interface Queue {
  readonly target: string;
  readonly isLed: boolean;
  readonly slots: { readonly busy: number; readonly of: number };
  readonly checks: readonly { readonly slot: number; readonly says: string }[];
  readonly lost: readonly { readonly slot: number; readonly says: string }[];
  readonly entries: readonly Entry[];
  readonly stalled: { readonly reason: string } | null;
  readonly landed: readonly { readonly task: string; readonly isVerified: boolean }[];
}

/** Tasks that are finished and wait for a person, by title. */
async function reviewed<const T extends readonly string[]>(
  titles: T,
  { landing = {}, script = 'commit "$COPSE_TASK_ID" "$COPSE_TASK_ID.txt"' } = {},
): Promise<{
  readonly scene: Scene;
  readonly ids: { readonly [I in keyof T]: string };
  readonly hold: string;
}> {
  const hold = path.join(area, `hold ${Math.random().toString(36).slice(2)}`);
  const checks = { test: { command: 'sh check.sh', env: { HOLD: hold } } };
  const scene = newScene(area, {
    sections: { landing: { policy: 'review', slots: 1, checks, ...landing } },
  });
  writeFileSync(path.join(scene.folder, 'check.sh'), CHECK);
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message=chore: checks');
  const ids = await Promise.all(titles.map((title) => scene.add(title, script)));
  await scene.up();
  return { scene, ids: ids as never, hold };
}

async function queueOf(scene: Scene): Promise<Queue> {
  const { queues } = await answer<{ queues: readonly Queue[] }>(['queue'], scene.at);
  return queues[0] ?? expect.fail('There is a queue');
}

async function until<T>(look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  let seen = await look();
  for (let looks = 0; !isSo(seen); looks += 1) {
    if (looks > 200) expect.fail(`It did not come about: ${JSON.stringify(seen, null, 2)}`);
    await sleep(100);
    seen = await look();
  }
  return seen;
}

/** Somebody who leads the queue, as long as the work lasts. */
async function whileLed(scene: Scene, work: () => Promise<void>): Promise<void> {
  const child: ChildProcess = startCopse(['orchestrate'], scene.at);
  const ended = finished(child);
  try {
    await work();
  } finally {
    child.kill('SIGINT');
    await ended;
  }
}

const statusOf = async (scene: Scene, id: string) => (await scene.tasks()).get(id)?.status;
const isDone = (scene: Scene, ...ids: readonly string[]) =>
  until(
    async () => Promise.all(ids.map((id) => statusOf(scene, id))),
    (statuses) => statuses.every((status) => status === 'done'),
  );

describe('pausing', () => {
  test('paused landing keeps the queue; taking out works, and resuming lands the rest', async () => {
    const {
      scene,
      ids: [stays, leaves],
    } = await reviewed(['stays', 'leaves']);
    const tip = scene.git('rev-parse', 'main');
    expect(await printed(['queue', 'pause', '--reason', 'release day'], scene.at)).toContain(
      'Paused the queue of main\n    Nothing lands on main.',
    );
    expect(await refusedBy(['queue', 'pause'], scene.at)).toContain('already lands nothing');
    await printed(['queue', 'retry', stays, leaves], scene.at);
    expect(await scene.up()).toContain('the queue is paused (release day)');
    expect(scene.git('rev-parse', 'main')).toBe(tip);
    expect(await printed(['queue'], scene.at)).toMatch(/PAUSED for \d+s: nothing lands \(release day\)/);
    expect((await queueOf(scene)).entries).toMatchObject([
      { task: stays, state: 'held', why: 'waits: the queue is paused (release day)', range: null },
      { task: leaves, state: 'held' },
    ]);
    expect(await refusedBy(['merge', stays], scene.at)).toBe(
      `copse: ${stays} stays in the queue: the queue is paused (release day).\n    To end the pause:\n  → copse queue resume\n    To take it out of the queue:\n  → copse queue cancel ${stays}\n`,
    );
    const approved = await printed(['review', stays, '--approve'], scene.at);
    expect(commandsIn(approved)).toEqual(['copse queue resume']);
    const why = await scene.why(stays);
    expect(why).not.toContain('lands it now');
    expect(commandsIn(why)).toEqual(['copse queue resume', `copse cancel ${stays}`]);

    const branch = scene.git('for-each-ref', '--format=%(objectname)', `refs/heads/${leaves}`);
    await printed(['queue', 'cancel', leaves, '--reason', 'not yet'], scene.at);
    expect(await statusOf(scene, leaves)).toBe('in_review');
    expect(scene.git('for-each-ref', '--format=%(objectname)', `refs/heads/${leaves}`)).toBe(branch);

    await printed(['queue', 'resume'], scene.at);
    expect(await refusedBy(['queue', 'resume'], scene.at)).toContain('is not paused');
    for (const line of [['queue'], ['list'], ['status'], ['why', stays]]) {
      expect(await printed(line, scene.at)).not.toMatch(/paused|stalled/i);
    }
    await scene.up();
    expect(await scene.statuses()).toEqual({ stays: 'done', leaves: 'in_review' });
    const events = await scene.events();
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'queue.paused',
        by: 'person:ada',
        data: { what: 'land', reason: 'release day' },
      }),
    );
    const reason = 'the reason why it waited is gone';
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'landing.requeued',
        data: expect.objectContaining({ reason }) as unknown,
      }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'landing.withdrawn', by: 'person:ada', data: { reason: 'not yet' } }),
    );
  });

  test('paused accepting lands the queue, and new changes wait in it', async () => {
    const {
      scene,
      ids: [inside, outside],
    } = await reviewed(['inside', 'outside']);
    await printed(['queue', 'retry', inside], scene.at);
    expect(await printed(['queue', 'pause', '--accept'], scene.at)).toContain(
      '    Tasks in the queue still land. Tasks that join the queue now wait until copse queue resume.\n',
    );
    await printed(['queue', 'retry', outside], scene.at);
    await scene.up();
    expect(await scene.statuses()).toEqual({ inside: 'done', outside: 'landing' });
    expect((await queueOf(scene)).entries).toMatchObject([
      { task: outside, state: 'held', why: 'waits: the queue accepts no new tasks' },
    ]);
    await printed(['queue', 'cancel', outside], scene.at);
    expect(await statusOf(scene, outside)).toBe('in_review');
    await printed(['queue', 'resume', '--accept'], scene.at);
    await scene.merge(outside);
    expect(await statusOf(scene, outside)).toBe('done');
  });
});

test('a hotfix goes first and alone, and its cost is shown before', async () => {
  const {
    scene,
    ids: [first, second, urgent],
    hold,
  } = await reviewed(['first', 'second', 'urgent']);
  writeFileSync(hold, '');
  await printed(['queue', 'retry', first, second], scene.at);
  await whileLed(scene, async () => {
    const seen = await until(
      () => queueOf(scene),
      ({ slots }) => slots.busy === 1,
    );
    expect(seen.checks[0]?.says).toBe(`a batch of 2: ${first} and ${second}`);
    expect(seen.entries).toMatchObject([
      { position: 1, task: first, state: 'checking', why: `being checked with ${second}`, behind: [] },
      { position: 2, task: second, state: 'checking', why: `being checked with ${first}`, behind: [first] },
    ]);
    await printed(['queue', 'retry', urgent], scene.at);
    const waits = await until(
      () => queueOf(scene),
      ({ entries }) => entries.length === 3,
    );
    expect(waits.entries[2]).toMatchObject({ task: urgent, state: 'waiting', behind: [first, second] });
    expect(await scene.why(urgent)).toContain(
      `It is number 3 of 3 to land on main, behind ${first} and ${second}.`,
    );
    expect(await printed(['list'], scene.at)).toContain('1 of 3 in the queue, being checked with');

    const before = await answer<unknown>(['queue', 'front', urgent, '--dry-run'], scene.at);
    expect(before).toEqual({ tasks: [urgent], restarts: 1, isDryRun: true });
    expect((await queueOf(scene)).entries[2]).toMatchObject({ task: urgent });
    expect(await printed(['queue', 'front', urgent], scene.at)).toContain('1 running check restarts.');
    const hurried = await until(
      () => queueOf(scene),
      ({ checks }) => checks[0]?.says === `${urgent} alone`,
    );
    expect(hurried.entries[0]).toMatchObject({ task: urgent, why: 'being checked first and alone' });
    rmSync(hold);
    await isDone(scene, first, second, urgent);
  });
  expect(scene.subjects().slice(3)).toEqual([urgent, first, second].map((id) => `feat: ${id}`));
  const { landed } = await queueOf(scene);
  expect(landed.map(({ isVerified }) => isVerified)).toEqual([true, true, true]);
  expect(await printed(['queue'], scene.at)).toContain('main: the queue is empty\n  3 landed in 1 h');
});

test('checks of a killed leader are shown as lost at once, and the next leader starts them again', async () => {
  const {
    scene,
    ids: [id],
    hold,
  } = await reviewed(['mine']);
  writeFileSync(hold, '');
  await printed(['queue', 'retry', id], scene.at);
  const leader = startCopse(['orchestrate'], scene.at);
  const ended = finished(leader);
  await until(
    () => queueOf(scene),
    ({ slots }) => slots.busy === 1,
  );
  leader.kill('SIGKILL');
  await ended;
  const lost = await queueOf(scene);
  expect(lost).toMatchObject({ isLed: false, slots: { busy: 0 }, checks: [], lost: [{ slot: 1, says: id }] });
  expect(lost.entries).toMatchObject([
    { state: 'again', why: expect.stringContaining('lost its check') as string, range: null },
  ]);
  const text = await printed(['queue'], scene.at);
  expect(text).toContain('the orchestrator is gone, and 1 check with it; to start again: copse orchestrate');
  expect(text).toContain(`slot 1 lost  ${id}`);
  expect(await scene.why(id)).toContain(
    'It lost its check when the orchestrator ended; the next one checks it again',
  );
  rmSync(hold);
  await whileLed(scene, async () => {
    await isDone(scene, id);
  });
});

describe('with a remote', () => {
  /** A bare repository, with a hook that is asked before anything is accepted. */
  async function newRemote(scene: Scene, hook: string): Promise<string> {
    const remote = path.join(area, `remote ${Math.random().toString(36).slice(2)}.git`);
    mkdirSync(remote);
    git(remote, 'init', '--quiet', '--bare', '--initial-branch=main');
    scene.git('remote', 'add', 'origin', remote);
    scene.git('push', '--quiet', 'origin', 'main');
    writeFileSync(path.join(remote, 'hooks', 'pre-receive'), `#!/bin/sh\n${hook}\n`);
    chmodSync(path.join(remote, 'hooks', 'pre-receive'), 0o755);
    await printed(['config', 'accept-remotes'], scene.at);
    return remote;
  }

  test('taking out is refused once the landing is journalled', async () => {
    const {
      scene,
      ids: [id],
    } = await reviewed(['late'], { landing: { checks: {}, push: true } });
    const pushing = path.join(area, 'pushing');
    const go = path.join(area, 'go');
    await newRemote(scene, `touch '${pushing}'; while ! test -f '${go}'; do sleep 0.05; done`);
    const merging = copse(['merge', id], scene.at);
    await until(
      () => Promise.resolve(existsSync(pushing)),
      (isPushing) => isPushing,
    );
    expect(await refusedBy(['queue', 'cancel', id], scene.at)).toContain('is already landing');
    expect(await refusedBy(['queue', 'front', id], scene.at)).toContain('is already landing');
    expect(await refusedBy(['queue', 'retry', id], scene.at)).toContain('is already landing');
    expect((await queueOf(scene)).entries).toMatchObject([{ task: id, state: 'landing' }]);
    writeFileSync(go, '');
    expect(await merging).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Landed ${id}`) as string,
    });
  });

  test('a person’s retry repeats a refused push at once', async () => {
    const {
      scene,
      ids: [id],
    } = await reviewed(['refused'], { landing: { checks: {}, push: true } });
    const open = path.join(area, 'open');
    const remote = await newRemote(scene, `test -f '${open}' || { echo "main is protected"; exit 1; }`);
    await printed(['queue', 'retry', id], scene.at);
    await whileLed(scene, async () => {
      const { stalled } = await until(
        () => queueOf(scene),
        (queue) => queue.stalled !== null,
      );
      expect(stalled?.reason).toMatch(/^main could not be pushed: .*main is protected/s);
      // However often it is looked at, the reason stays to be seen.
      await sleep(1_000);
      expect((await queueOf(scene)).stalled).toEqual(stalled);
      expect(await printed(['queue'], scene.at)).toMatch(/STALLED for \d+s: main could not be pushed/);
      expect(await printed(['list'], scene.at)).toContain('main could not be pushed');
      writeFileSync(open, '');
      await printed(['queue', 'retry', id], scene.at);
      await isDone(scene, id);
    });
    expect(git(remote, 'rev-parse', 'main')).toBe(scene.git('rev-parse', 'main'));
  });
});

// promise: people-only
test('an agent reads the queue and changes nothing of it', async () => {
  const {
    scene,
    ids: [id],
  } = await reviewed(['mine']);
  const asAgent = { ...scene.at, env: { COPSE_SESSION_ID: 'se-1', COPSE_TOKEN: '1' } };
  expect(await printed(['queue'], asAgent)).toContain('main: the queue is empty');
  for (const argv of [
    ['queue', 'pause'],
    ['queue', 'front', id],
    ['queue', 'cancel', id],
    ['merge', id, '--now'],
  ])
    expect(await refusedBy(argv, asAgent)).toContain('may not run copse');
  expect(await refusedBy(['queue', 'cancel', id], scene.at)).toContain(
    `${id} is not in the queue: it is in review.`,
  );
});
