/** Signed requests over HTTP: the same answers as `receiveRequest` gives, and no other. */

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { receiveRequest } from '../../../packages/copse/src/intake/act/triggers.ts';
import type { TriggerDefinition } from '../../../packages/copse/src/intake/rules/trigger.ts';
import { openSignatures } from '../../../packages/copse/src/intake/signatures/verify.ts';
import { secret, usual } from '../../support/intake/triggers.ts';
import { contextOf } from '../../support/board/boards.ts';
import { newArea } from '../../support/cli.ts';
import { type Served, ask, newServed, sendRaw } from '../../support/server/served.ts';

const triggers: readonly TriggerDefinition[] = [
  usual,
  { ...usual, name: 'from-github', type: 'github' },
  { ...usual, name: 'from-gitlab', type: 'gitlab' },
  { ...usual, name: 'wakes', type: 'github', prompt: null, workSource: 'github' },
  { ...usual, name: 'my hook' },
  { ...usual, name: 'empty', prompt: null },
  { ...usual, name: 'linked', secret: { file: 'link' } },
  { ...usual, name: 'no-file', secret: { file: 'folder' } },
];
const folder = newArea();
symlinkSync('/dev/null', path.join(folder, 'link'));
mkdirSync(path.join(folder, 'folder'));
const told: string[] = [];
const onProblem = (text: string) => void told.push(text);
const signatures = openSignatures({ env: { HOOK_SECRET: secret }, folder, homeFolder: '/', onProblem });

let served: Served;
beforeAll(async () => {
  served = await newServed({
    proxied: ['hooks.example.com'],
    receive: (board) => (name, request) =>
      receiveRequest(contextOf(board), { triggers }, signatures, { name, request }),
  });
});
afterAll(() => served[Symbol.asyncDispose]());

/** Bytes that are no text: what is signed is what was sent. */
const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0x7b]);

function hmac(...parts: readonly (string | Buffer)[]): string {
  const made = createHmac('sha256', secret);
  for (const part of parts) made.update(part);
  return `sha256=${made.digest('hex')}`;
}

function signed(name: string, id: string): Readonly<Record<string, string>> {
  if (name === 'from-gitlab') return { 'x-gitlab-token': secret, 'x-gitlab-event-uuid': id };
  if (name === 'from-github' || name === 'wakes')
    return { 'x-hub-signature-256': hmac(bytes), 'x-github-delivery': id };
  return { 'x-copse-signature': hmac(`${id}.`, bytes), 'x-copse-delivery': id };
}

const some = { 'x-copse-signature': 'x' };

function send(name: string, headers: Readonly<Record<string, string>>, body = bytes) {
  return ask(served, `/triggers/${name}`, { method: 'POST', headers, body, token: false });
}

// promise: request-genuine-once
describe('a request to a trigger', () => {
  test.each(['deploy', 'from-github', 'from-gitlab', 'my%20hook'])(
    '%s starts one task, and its replay none',
    async (name) => {
      const before = (await served.board.tasks({ order: 'urgent' })).length;
      const headers = signed(decodeURIComponent(name), 'd-1');
      const first = await send(name, headers);
      expect(first.status).toBe(202);
      const { kind, task } = JSON.parse(first.body) as { kind: string; task: string };
      expect(kind).toBe('started');
      expect(await served.board.get('task', task)).toBeDefined();
      expect(await send(name, headers)).toMatchObject({ status: 200, body: '{"kind":"replayed"}\n' });
      expect(await served.board.tasks({ order: 'urgent' })).toHaveLength(before + 1);
    },
  );

  test('is not the same bytes with another border between id and body: no id has a dot', async () => {
    const signature = hmac('d-7.1.{}');
    const sent = (id: string, body: string) =>
      send('deploy', { 'x-copse-signature': signature, 'x-copse-delivery': id }, Buffer.from(body));
    expect(await sent('d-7', '1.{}')).toMatchObject({ status: 202 });
    expect(await sent('d-7.1', '{}')).toMatchObject({ status: 401 });
    expect(await sent('d-7', '1.{}')).toMatchObject({ status: 200, body: '{"kind":"replayed"}\n' });
  });

  test('of a source wakes it', async () => {
    expect(await send('wakes', signed('wakes', 'd-1'))).toMatchObject({
      status: 202,
      body: '{"kind":"woken"}\n',
    });
  });

  test('from the host of a proxy is served, from another host not', async () => {
    const headers = { ...signed('deploy', 'd-2'), host: 'hooks.example.com' };
    expect(await send('deploy', headers)).toMatchObject({ status: 202 });
    expect(await send('deploy', { ...signed('deploy', 'd-3'), host: 'other.example.com' })).toMatchObject({
      status: 401,
    });
  });

  test('that a page of another site sends is refused before its signature', async () => {
    const headers = { ...signed('deploy', 'd-4'), 'sec-fetch-site': 'cross-site' };
    expect(await send('deploy', headers)).toMatchObject({ status: 401 });
    expect(await send('deploy', signed('deploy', 'd-4'))).toMatchObject({ status: 202 });
  });

  test('that is genuine but cannot be done says why', async () => {
    const { status, body, headers } = await send('empty', signed('empty', 'd-1'));
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 400,
      type: 'application/problem+json',
    });
    expect(JSON.parse(body)).toMatchObject({
      code: 'invalid',
      detail: 'empty has no prompt of its own.',
      next: ['copse trigger empty --prompt "…"'],
    });
  });

  test('that is not genuine gets the same bytes as any other request without a token', async () => {
    const { body: unauthorized } = await ask(served, '/api/v1/snapshot', { token: false });
    const wrong = await Promise.all([
      send('deploy', {}),
      send('no-such-trigger', signed('deploy', 'd-9')),
      send('deploy', signed('deploy', 'd-9'), Buffer.from('another body')),
      send('deploy', { ...signed('deploy', 'd-9'), 'x-copse-delivery': 'd-8' }),
      send('deploy', { authorization: `Bearer ${served.server.keys.token}` }),
      send('..%2fdeploy', signed('deploy', 'd-9')),
    ]);
    for (const { status, body } of wrong)
      expect({ status, body }).toEqual({ status: 401, body: unauthorized });
  });

  test('whose secret cannot be read is refused like any other; only the person hears why, once', async () => {
    const { body: unauthorized } = await ask(served, '/api/v1/snapshot', { token: false });
    for (const name of ['linked', 'no-file', 'linked'])
      expect(await send(name, signed(name, 'd-9'))).toMatchObject({ status: 401, body: unauthorized });
    expect(told).toEqual([
      `Requests to trigger linked are refused, because its secret cannot be read: ${path.join(folder, 'link')} is a link, which Copse does not follow.`,
      `Requests to trigger no-file are refused, because its secret cannot be read: ${path.join(folder, 'folder')} is not a file.`,
    ]);
  });

  test('without any signature is refused before its body is read', async () => {
    const head = `POST /triggers/deploy HTTP/1.1\r\nHost: localhost:${served.port}\r\nContent-Length: 10\r\n\r\n`;
    const { socket } = sendRaw(served.port, head);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  test('whose body hangs keeps no person out, and ends in time', async () => {
    await using own = await newServed({ limits: { unverifiedBodies: 16, unverifiedMs: 300 } });
    const head = `POST /triggers/deploy HTTP/1.1\r\nHost: localhost:${own.port}\r\nX-Copse-Signature: x\r\nContent-Length: 10\r\n\r\nx`;
    const hanging = Array.from({ length: 16 }, () => sendRaw(own.port, head).ended);
    const trigger = (await once(sendRaw(own.port, head).socket, 'data')) as [string];
    expect(trigger[0]).toMatch(/^HTTP\/1\.1 503 [^]*"code":"busy"/);
    const body = JSON.stringify({ code: own.server.keys.newCode() });
    expect(await ask(own, '/api/v1/enter', { method: 'POST', body, token: false })).toMatchObject({
      status: 200,
    });
    for (const answer of await Promise.all(hanging))
      expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*"code":"late"/);
  });

  test('is answered with 503 while too many bodies are held', async () => {
    let isHeld: () => void = () => {};
    const held = new Promise<void>((resolve) => (isHeld = resolve));
    await using busy = await newServed({
      limits: { unverifiedBodies: 1, lastWorkMs: 100 },
      receive: () => () => {
        isHeld();
        return new Promise(() => {});
      },
    });
    const sendTo = (name: string) =>
      ask(busy, `/triggers/${name}`, { method: 'POST', headers: some, body: 'x', token: false });
    const first = sendTo('a').catch(() => 'cut');
    await held;
    expect(await sendTo('b')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    await busy.server.close();
    expect(await first).toBe('cut');
  });

  test('that stops in the middle of its body holds its place only until its connection ends', async () => {
    await using hasty = await newServed({
      limits: { unverifiedBodies: 1, headersMs: 150, requestMs: 200 },
      receive: () => () => Promise.resolve({ kind: 'done', value: { kind: 'replayed' } }),
    });
    const head = `POST /triggers/a HTTP/1.1\r\nHost: localhost:${hasty.port}\r\nX-Copse-Signature: x\r\nContent-Length: 10\r\n\r\nx`;
    const { socket, ended } = sendRaw(hasty.port, head);
    await once(socket, 'data');
    socket.destroy();
    await ended;
    const again = () => ask(hasty, '/triggers/a', { method: 'POST', headers: some, body: 'x', token: false });
    await vi.waitFor(async () => expect((await again()).status).toBe(200), { timeout: 5_000, interval: 50 });
  });
});
