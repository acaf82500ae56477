/** One run in which attempts end in every way there is, and what the hooks of each were told. */

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
const notes = path.join(area, 'hook notes');

interface Told {
  readonly hook: string;
  readonly text: string;
  readonly task: { readonly id: string; readonly title: string };
  readonly agent: string;
  readonly attempt: string;
  readonly worktree: { readonly path: string } | null;
  readonly outcome: {
    readonly kind: string;
    readonly because: string | null;
    readonly reason: string | null;
    readonly exitCode: number | null;
  } | null;
}

/** What the address was told, and with which path. */
const called: { readonly url: string; readonly body: Told }[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Told;
    called.push({ url: request.url ?? '', body });
    if (request.url === '/never') return;
    const status = request.url === '/moved' ? 302 : request.url === '/refuses' ? 403 : 200;
    response.writeHead(status, { location: '/elsewhere' });
    // Far more than any hook is to read.
    response.end('x'.repeat(2_000_000));
  });
});

/** What commands read, one line each. */
function read(): readonly Told[] {
  const lines = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : [];
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Told);
}

let scene: Scene;
const ids: Record<string, string> = {};
const id = (title: string): string => ids[title] ?? expect.fail(`There is no task ${title}`);
const KILL =
  'kill -9 $(sed "s/.*pid.:\\([0-9]*\\).*/\\1/" "$COPSE_REPO_ROOT/.copse/attempts/$COPSE_ATTEMPT_ID.runner.json")';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { HOOK_NOTES: notes };
  const tell = ['cat >> "$HOOK_NOTES"', { url: `${base}/told` }];
  const hooks = { on_error: tell, after_run: tell };
  const never = { url: `${base}/never`, timeout: '300ms' };
  scene = newScene(area, {
    agents: {
      plain: { env, hooks },
      hasty: { env, hooks, capabilities: ['hasty'], limits: { time: '700ms' } },
      unready: { env, hooks: { ...hooks, before_run: ['exit 7'] }, capabilities: ['unready'] },
      bare: { env, hooks, capabilities: ['bare'], workspace: { setup: ['exit 4'] } },
      calling: {
        env,
        hooks: { before_run: { url: `${base}/before` }, on_error: tell },
        capabilities: ['calling'],
      },
      moved: { env, hooks: { before_run: [{ url: `${base}/moved` }] }, capabilities: ['moved'] },
      refused: { env, hooks: { after_run: [{ url: `${base}/refuses` }] }, capabilities: ['refused'] },
      waiting: { hooks: { before_run: never, on_error: never }, capabilities: ['waiting'] },
      waited: { hooks: { after_run: never }, capabilities: ['waited'] },
      killing: { env, hooks: { on_error: ['cat >> "$HOOK_NOTES"', KILL] }, capabilities: ['killing'] },
      rootless: {
        env,
        hooks: { on_error: ['echo "in $PWD" >> "$HOOK_NOTES"; rm -rf ./*'] },
        capabilities: ['rootless'],
        landing: { target: 'nowhere' },
      },
      writing: {
        env,
        hooks: { after_run: ['echo "$COPSE_HOOK $COPSE_OUTCOME" > seen'] },
        capabilities: ['writing'],
      },
    },
    policy: { max_retries: 1, handbacks: { dirty: 0 } },
  });
  const add = async (title: string, script: string, requires?: string) => {
    ids[title] = await scene.add(title, script, ...(requires === undefined ? [] : ['--requires', requires]));
  };
  await add('finishes', 'commit one one.txt; copse finish --summary "All of it"');
  await add('crashes', 'echo boom >&2; exit 9');
  await add('hangs', 'while :; do sleep 0.1; done', 'hasty');
  await add('asks', 'copse stuck --reason "Which one?"');
  await add('leaves files', 'echo half > half.txt');
  await add('is not made ready', 'commit x x.txt', 'unready');
  await add('has no set-up', 'commit y y.txt', 'bare');
  await add('loses its runner', `${KILL}; sleep 30`);
  await add('is announced', 'exit 3', 'calling');
  await add('is announced to a redirect', 'commit z z.txt', 'moved');
  await add('is told in vain', 'commit v v.txt', 'refused');
  await add('is announced to silence', 'commit s s.txt', 'waiting');
  await add('is told to silence', 'commit t t.txt', 'waited');
  await add('is killed by its hook', 'exit 5', 'killing');
  await add('has no base', 'commit b b.txt', 'rootless');
  await add('has a hook that writes', 'commit w w.txt', 'writing');
  await scene.up();
}, 240_000);

afterAll(() => {
  server.close();
  server.closeAllConnections();
  endAgents(area);
});

describe('hooks', () => {
  // promise: hooks-once
  // setting: agents.<name>.hooks.after_run.url, agents.<name>.hooks.on_error.url
  test.each([
    ['finishes', { kind: 'finished', reason: null, summary: 'All of it' }],
    ['crashes', { kind: 'crashed', exitCode: 9 }],
    ['hangs', { kind: 'timed_out', reason: 'it took longer than its limit of 1 s' }],
    ['asks', { kind: 'stuck', reason: 'Which one?' }],
    ['leaves files', { kind: 'needs_attention', because: 'dirty' }],
    ['is not made ready', { kind: 'crashed', reason: 'hook before_run failed (exit code 7): exit 7' }],
    ['has no set-up', { kind: 'crashed', reason: expect.stringContaining('exit 4') }],
    ['loses its runner', { kind: 'crashed', reason: expect.stringContaining('its runner is gone') }],
  ])('of an attempt that %s are told once, as a command and as a call', (title, outcome) => {
    const ofTask = ({ task }: Told) => task.id === id(title);
    const commands = read().filter(ofTask);
    const calls = called.filter(({ url, body }) => url === '/told' && ofTask(body));
    expect(commands).toMatchObject([
      { hook: title === 'finishes' ? 'after_run' : 'on_error', task: { id: id(title), title }, outcome },
    ]);
    expect(calls.map(({ body }) => body)).toEqual(commands);
    expect(commands[0]?.text).toContain(`${id(title)} (${title}) `);
  });

  // setting: agents.<name>.hooks.before_run.url
  test('before_run may be a call, and its failure ends the attempt; no redirect is followed', async () => {
    expect(called.find(({ url }) => url === '/before')?.body).toMatchObject({
      hook: 'before_run',
      task: { id: id('is announced') },
      outcome: null,
    });
    const why = await scene.why(id('is announced to a redirect'));
    expect(why).toMatch(/hook before_run failed: http:\/\/127\.0\.0\.1:\d+\/…: it answered 302/);
    expect(why).not.toContain('/moved');
    expect(called.filter(({ url }) => url === '/elsewhere')).toEqual([]);
  });

  // setting: agents.<name>.hooks.after_run.url
  test('after_run that fails is a warning of finished work', async () => {
    const shown = await answer<{ status: string; warnings: readonly string[] }>(
      ['show', id('is told in vain')],
      scene.at,
    );
    expect(shown.status).toBe('done');
    expect(shown.warnings).toMatchObject([expect.stringMatching(/^hook after_run failed: .*answered 403$/)]);
  });

  // setting: agents.<name>.hooks.before_run.timeout, agents.<name>.hooks.after_run.timeout
  // setting: agents.<name>.hooks.on_error.timeout
  test('wait for an address as long as its timeout', async () => {
    const late = /hook (\w+) failed: http:\/\/127\.0\.0\.1:\d+\/…: it did not answer within 0\.3 s/g;
    const said = async (title: string) => {
      // Only the log of its runner says that on_error failed.
      const logs = path.join(scene.folder, '.copse', 'logs', id(title));
      const files = readdirSync(logs, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
      const texts = files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'utf8'));
      const found = [await scene.why(id(title)), ...texts].join('\n').matchAll(late);
      return [...new Set(Array.from(found, ([, hook]) => hook))];
    };
    expect(await said('is announced to silence')).toEqual(['before_run', 'on_error']);
    expect(await said('is told to silence')).toEqual(['after_run']);
  });

  // promise: hooks-once
  test('that began when their process was killed are not run again, and that is told', async () => {
    const task = id('is killed by its hook');
    expect(read().filter(({ task: { id } }) => id === task)).toHaveLength(1);
    const begun = (await scene.events()).filter(({ type }) => type === 'attempt.hook_started');
    const keys = begun.map(
      (event) => `${event.id} ${(event as unknown as { data: { hook: string } }).data.hook}`,
    );
    expect(new Set(keys)).toHaveProperty('size', keys.length);
    expect(await scene.why(task)).toContain(
      'The hook on_error began and its process ended before it: it is not run again.',
    );
  });

  // promise: checkout-untouched
  test('without a worktree run in an empty folder, never in the main checkout', () => {
    const places = readFileSync(notes, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('in '));
    expect(places).toHaveLength(1);
    expect(places[0]).toContain(path.join('.copse', 'tmp'));
    expect(existsSync(path.join(scene.folder, 'copse.yml'))).toBe(true);
  });

  test('leave files that do not keep the worktree of landed work', async () => {
    const { worktrees } = await answer<{ worktrees: readonly { task: string }[] }>(['worktrees'], scene.at);
    expect(worktrees.map(({ task }) => task)).not.toContain(id('has a hook that writes'));
    expect(await printed(['events', '--task', id('has a hook that writes')], scene.at)).toContain(
      'your hooks wrote seen',
    );
  });
});
