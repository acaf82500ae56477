/**
 * The token of an agent's session over HTTP, with two real agents. It may do what the command line lets a session do, about its
 * own task; everything else is refused, by enumeration of the registry and of the server's own paths.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { sessionToken } from '../../../packages/copse/src/agents/files/session-token.ts';
import { type SessionId, brand, fencingToken } from '../../../packages/copse/src/kernel/ids.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { ownPaths, webSockets } from '../../../packages/copse/src/server/api/own-paths.ts';
import { closeAtEnd } from '../../support/close-at-end.ts';
import { answer, finished, newArea, startCopse } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { type Served, ask, openSocket } from '../../support/server/served.ts';
import { type CallOptions, call, called, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
let scene: Scene;
let served: Served;
let mine: string;
let other: string;
let token: string;
const orchestrators: { child: ReturnType<typeof startCopse>; ended: Promise<unknown> }[] = [];

beforeAll(async () => {
  scene = newScene(area, { policy: { max_agents: 2 } });
  // It works until the test says that it may end.
  const script = `printf %s "$COPSE_SERVER_TOKEN" > "\${0%/*}/$COPSE_TASK_ID.part"
mv "\${0%/*}/$COPSE_TASK_ID.part" "\${0%/*}/$COPSE_TASK_ID.token"
until test -e "\${0%/*}/$COPSE_TASK_ID.end"; do sleep 0.1; done
copse stuck --reason "The test is over."`;
  mine = await scene.add('Mine', script);
  other = await scene.add('Other', script);
  const child = startCopse(['orchestrate'], scene.at);
  closeAtEnd(() => child.kill('SIGKILL'));
  orchestrators.push({ child, ended: finished(child) });
  served = await serveRepository(scene.folder);
  token = await tokenOf(mine);
  await tokenOf(other);
}, 60_000);

afterAll(async () => {
  end(mine);
  end(other);
  for (const { child, ended } of orchestrators) {
    child.kill('SIGINT');
    await ended;
  }
  endAgents(area);
  await served[Symbol.asyncDispose]();
});

function fileOf(task: string, what: 'token' | 'end'): string {
  return path.join(scene.scripts, `${task}.${what}`);
}

async function tokenOf(task: string): Promise<string> {
  await vi.waitFor(() => expect(existsSync(fileOf(task, 'token'))).toBe(true), { timeout: 50_000 });
  return readFileSync(fileOf(task, 'token'), 'utf8');
}

function end(task: string): void {
  writeFileSync(fileOf(task, 'end'), '');
}

async function statusOf(request: string, options: CallOptions = {}): Promise<number> {
  return (await call(served, request, { token, ...options })).status;
}

/** A path with an id for each field; which one does not matter to a caller that is refused. */
function pathOf(text: string, task: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, field: string) => (field === 'task' ? task : 'x'));
}

// promise: server-session-scope
describe('the token of a session', () => {
  test('is refused to every operation for people only, whatever the input is', async () => {
    const forPeople = operations.filter(({ callers }) => !callers.includes('session'));
    expect(forPeople.length).toBeGreaterThan(20);
    const before = await served.board.lastEvent();
    for (const { name, http } of forPeople) {
      const request = `${http.method} ${pathOf(http.path, mine)}`;
      const options = { token, headers: { confirm: name }, ...(http.method !== 'GET' && { body: {} }) };
      const { status, body } = await call(served, request, options);
      expect({ name, status, ...(JSON.parse(body) as object) }).toMatchObject({
        status: 403,
        code: 'not_this_session',
      });
    }
    expect(await served.board.lastEvent()).toBe(before);
  });

  test('is refused to every path of the server itself, and gets no ticket', async () => {
    const open = new Set(['/healthz', '/api/v1/enter', '/triggers/{name}']);
    const paths = Object.entries(ownPaths).filter(([text]) => !open.has(text));
    expect(paths.length).toBeGreaterThan(4);
    for (const [text, item] of paths)
      for (const method of Object.keys(item)) {
        const { status } = await ask(served, pathOf(text, mine), { method: method.toUpperCase(), token });
        expect({ text, method, status }).toEqual({ text, method, status: 403 });
      }
    for (const text of Object.keys(webSockets)) {
      const { status } = await ask(served, pathOf(text, mine), { token });
      expect({ text, status }).toEqual({ text, status: 404 });
    }
    expect(await openSocket(served, `?ticket=${token}&after=0`)).toMatchObject({
      kind: 'refused',
      status: 401,
    });
  });

  test('reads what a session may read, and changes its own task as the session', async () => {
    for (const request of ['GET /tasks', `GET /tasks/${other}`, `GET /tasks/${mine}/diff`, 'GET /status'])
      expect({ request, status: await statusOf(request) }).toEqual({ request, status: 200 });
    expect(await statusOf(`POST /tasks/${mine}/phase`, { body: { phase: 'working' } })).toBe(200);
    const added = await called<{ id: string }>(served, 'POST /tasks', { token, body: { title: 'Found' } });
    const events = await served.board.events({ after: 0 as never, limit: 10_000 });
    expect(events.find(({ event }) => event.id === added.id)?.by).toMatchObject({ kind: 'session' });
  });

  test.each([
    ['GET', 'diff', undefined],
    ['GET', 'logs', undefined],
    ['POST', 'sync', {}],
    ['POST', 'finish', {}],
    ['POST', 'stuck', { reason: 'No' }],
    ['POST', 'phase', { phase: 'working' }],
    ['POST', 'heartbeat', {}],
    ['POST', 'notify', { attention: 'idle' }],
    ['POST', 'ledger', { kind: 'decision', text: 'A note' }],
  ])('is refused to %s %s of another task', async (method, what, body) => {
    const { token: own } = (await served.board.get('task', mine)) ?? expect.fail('It is gone');
    // Both tasks have the same fencing number, so only the session tells them apart.
    expect((await served.board.get('task', other as never))?.token).toBe(own);
    const before = await served.board.lastEvent();
    const got = await call(served, `${method} /tasks/${other}/${what}`, { token, body });
    expect({ status: got.status, ...(JSON.parse(got.body) as object) }).toMatchObject({
      status: 403,
      code: 'not_this_session',
    });
    expect(await served.board.lastEvent()).toBe(before);
  });

  test('is not told whether another task is there', async () => {
    for (const what of ['diff', 'logs'])
      expect(await statusOf(`GET /tasks/cp-none/${what}`)).toBe(
        await statusOf(`GET /tasks/${other}/${what}`),
      );
  });

  test('reads no file of the person as a result of its task', async () => {
    const secret = path.join(area, 'secret.txt');
    writeFileSync(secret, 'secret');
    const got = await call(served, 'POST /artifacts', { token, body: { file: secret } });
    expect({ status: got.status, body: got.body }).toMatchObject({
      status: 400,
      body: expect.stringContaining('in none of the folders of the task') as string,
    });
    const foreign = { token, body: { task: other, uri: 'https://example.com/' } };
    expect(await call(served, 'POST /artifacts', foreign)).toMatchObject({ status: 403 });
  });

  test('shares no Idempotency-Key with the person', async () => {
    const options = { headers: { 'idempotency-key': 'one' }, body: { title: 'Keyed' } };
    const byPerson = await called<{ id: string }>(served, 'POST /tasks', options);
    const bySession = await called<{ id: string }>(served, 'POST /tasks', { ...options, token });
    expect(bySession.id).not.toBe(byPerson.id);
    expect(await called(served, 'POST /tasks', { ...options, token })).toEqual(bySession);
  });

  test('counts only as it was given: another session, number or code is none', async () => {
    const [, session = '', number = '', code = ''] = /^cs_([\w-]+?)_(\d+)_([\w-]{43})$/.exec(token) ?? [];
    expect(await statusOf('GET /tasks', { token: `cs_${session}_${number}_${code}` })).toBe(200);
    const others = (await tokenOf(other)).split('_');
    for (const forged of [
      `cs_${session}_${Number(number) + 1}_${code}`,
      `cs_${others[1]}_${number}_${code}`,
      `cs_${session}_${number}_${'A'.repeat(43)}`,
      `cs_${session}_${number}_`,
      code,
      number,
    ])
      expect({ forged, status: await statusOf('GET /tasks', { token: forged }) }).toEqual({
        forged,
        status: 401,
      });
    // With the right code: of a later or an earlier claim, and of a session that the board does not have.
    const made = (id: string, fencing: number) =>
      sessionToken(scene.folder, { session: brand<SessionId>(id), token: fencingToken(fencing) }) ?? '';
    expect(made(session, Number(number))).toBe(token);
    for (const fenced of [
      made(session, Number(number) + 1),
      made(session, 0),
      made('se-none', Number(number)),
    ])
      expect(await statusOf('GET /tasks', { token: fenced })).toBe(401);
  });

  test('ends with its session', async () => {
    const ofOther = await tokenOf(other);
    expect(await statusOf('GET /tasks', { token: ofOther })).toBe(200);
    end(other);
    await expect.poll(() => statusOf('GET /tasks', { token: ofOther }), { timeout: 30_000 }).toBe(401);
    const { status } = await answer<{ status: string }>(['show', other], scene.at);
    expect(status).toBe('stuck');
    expect(await statusOf('GET /tasks')).toBe(200);
  });
});
