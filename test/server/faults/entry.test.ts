/**
 * Attacks on a real server on loopback. Each is seen to succeed with its check removed: `npm run test:attacks`.
 *
 * An attacker is a page in the person's browser, a program of an agent on another port, or a client that sends
 * too much, too slowly or too often. The one who has the token may do everything.
 */

import { type Socket, connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  type Asked,
  type Opened,
  type Served,
  ask,
  newServed,
  openSocket,
  sendRaw,
  ticketOf,
} from '../../support/server/served.ts';

let served: Served;
beforeAll(async () => {
  served = await newServed();
});
afterAll(() => served[Symbol.asyncDispose]());

/** The one answer to all that may not enter. */
const refused = `${JSON.stringify({
  type: 'about:blank',
  title: 'Unauthorized',
  status: 401,
  detail: 'This request needs the token of copse serve.',
  code: 'unauthorized',
  next: ['copse serve --help'],
})}\n`;

async function expectRefused(path: string, asked: Asked): Promise<void> {
  const { status, body, headers } = await ask(served, path, asked);
  expect({ status, body }).toEqual({ status: 401, body: refused });
  expect(headers['set-cookie']).toBeUndefined();
  expect(headers['access-control-allow-origin']).toBeUndefined();
}

function isWell(): Promise<number> {
  return ask(served, '/api/v1/snapshot').then(({ status }) => status);
}

// promise: server-entry
describe('without a token', () => {
  test.each([
    ['POST', '/'],
    ['GET', '/assets/page.js'],
    ['GET', '/api/v1/snapshot'],
    ['GET', '/api/v1/events?after=0'],
    ['POST', '/api/v1/ticket'],
    ['POST', '/api/v1/code'],
    ['POST', '/api/v1/enter'],
    ['GET', '/api/v1/stream'],
    ['GET', '/metrics'],
    ['POST', '/mcp'],
    ['GET', '/mcp'],
    ['GET', '/no/such/path'],
    ['DELETE', '/api/v1/snapshot'],
    ['OPTIONS', '/api/v1/snapshot'],
    ['POST', '/healthz'],
    ['GET', '/triggers/deploy'],
    ['TRACE', '/'],
    ['GET', '/../../etc/passwd'],
    ['GET', '/%2e%2e/%2e%2e/etc/passwd'],
  ])('%s %s is answered with the same bytes', async (method, path) => {
    await expectRefused(path, { method, token: false });
  });

  test.each([
    ['another token', { authorization: `Bearer ${'A'.repeat(43)}` }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['a password', { authorization: 'Basic Og==' }],
  ])('%s is none', async (_, headers) => {
    await expectRefused('/api/v1/snapshot', { token: false, headers });
  });

  test('a token in the address, a cookie or a Referer is none', async () => {
    const { token } = served.server.keys;
    await expectRefused(`/api/v1/snapshot?token=${token}&access_token=${token}`, { token: false });
    await expectRefused('/api/v1/snapshot', { token: false, headers: { cookie: `token=${token}` } });
    await expectRefused('/api/v1/snapshot', {
      token: false,
      headers: { referer: `http://localhost/#${token}` },
    });
  });

  test('/healthz says ok and nothing else', async () => {
    expect(await ask(served, '/healthz', { token: false })).toMatchObject({ status: 200, body: 'ok\n' });
    const head = await ask(served, '/healthz', { token: false, method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '3' } });
  });

  test('a used code is answered with the same bytes, and told once to the person', async () => {
    const code = served.server.keys.newCode();
    const enter = (given: string): Asked => ({
      method: 'POST',
      body: JSON.stringify({ code: given }),
      token: false,
    });
    expect((await ask(served, '/api/v1/enter', enter(code))).status).toBe(200);
    const told = () => served.problems.filter((text) => text.includes('used already'));
    await expectRefused('/api/v1/enter', enter('wrong'));
    expect(told()).toEqual([]);
    await expectRefused('/api/v1/enter', enter(code));
    await expectRefused('/api/v1/enter', enter(code));
    expect(told()).toEqual([
      'A code that was used already was tried. If both were not you, another program has a token: start copse serve anew.',
    ]);
  });
});

test('an offer of another protocol is ignored: the request is answered as it is', async () => {
  const { token } = served.server.keys;
  const head = (authorization: string) =>
    `GET /api/v1/snapshot HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\n${authorization}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAA\r\n\r\n`;
  const known = await sendRaw(served.port, head(`Authorization: Bearer ${token}\r\n`)).ended;
  expect(known).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"tasks":\[/);
  const stranger = await sendRaw(served.port, head('')).ended;
  expect(stranger).toMatch(/^HTTP\/1\.1 401 /);
  expect(stranger).toContain(refused);
});

// promise: server-entry
test.each(['100-continue', 'a-surprise'])(
  'a stranger who expects %s is told nothing but the refusal, at once',
  async (expected) => {
    const { ended } = sendRaw(
      served.port,
      `POST /api/v1/tasks HTTP/1.1\r\nHost: localhost:${served.port}\r\nExpect: ${expected}\r\nContent-Length: 9\r\nConnection: close\r\n\r\n`,
    );
    const [head = '', body] = (await ended).split('\r\n\r\n');
    expect({ body, line: head.split('\r\n')[0] }).toEqual({
      body: refused,
      line: 'HTTP/1.1 401 Unauthorized',
    });
  },
);

test('a client that may enter is told to go on before it sends its body', async () => {
  const body = JSON.stringify({ code: served.server.keys.newCode() });
  const { socket, ended } = sendRaw(
    served.port,
    `POST /api/v1/enter HTTP/1.1\r\nHost: localhost:${served.port}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
  );
  socket.once('data', () => socket.write(body));
  expect(await ended).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
});

test('HEAD is answered as GET without a body, and a stream has none', async () => {
  const got = await ask(served, '/api/v1/snapshot');
  const head = await ask(served, '/api/v1/snapshot', { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, body: '', headers: { etag: got.headers['etag'] } });
  expect((await ask(served, '/api/v1/events', { method: 'HEAD' })).status).toBe(405);
  await expectRefusedHead();
});

async function expectRefusedHead(): Promise<void> {
  expect((await ask(served, '/api/v1/snapshot', { method: 'HEAD', token: false })).status).toBe(401);
}

// promise: server-entry
describe('a page in the person’s browser, even with the token', () => {
  test('whose name was bound to this machine (DNS rebinding) is refused by its Host', async () => {
    const host = `attacker.example:${served.port}`;
    await expectRefused('/api/v1/snapshot', { headers: { host } });
    // As the page sends it: Origin and Host agree.
    await expectRefused('/api/v1/snapshot', {
      headers: { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
    });
    await expectRefused('/healthz', { headers: { host }, token: false });
  });

  test('on another port of this machine is refused by its Origin', async () => {
    await expectRefused('/api/v1/snapshot', { headers: { origin: 'http://localhost:3000' } });
    await expectRefused('/api/v1/snapshot', { headers: { origin: 'http://localhost' } });
  });

  test('with another scheme is refused by its Origin', async () => {
    await expectRefused('/api/v1/snapshot', { headers: { origin: `https://localhost:${served.port}` } });
  });

  test('that sends a form from another site is refused', async () => {
    const form = { 'content-type': 'text/plain', origin: 'null' };
    await expectRefused('/api/v1/ticket', { method: 'POST', headers: form, body: '{}' });
    await expectRefused('/api/v1/ticket', { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } });
    const code = served.server.keys.newCode();
    await expectRefused('/api/v1/enter', {
      method: 'POST',
      headers: form,
      body: JSON.stringify({ code }),
      token: false,
    });
    // The code was not used up by it.
    expect(served.server.keys.enter(code)).toBeDefined();
  });

  test('that asks for an image, a script or a frame is refused by Sec-Fetch-Site', async () => {
    for (const site of ['cross-site', 'same-site'])
      for (const destination of ['image', 'script', 'iframe'])
        await expectRefused('/api/v1/snapshot', {
          headers: { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': destination },
        });
  });

  test('of the server itself may enter', async () => {
    const origin = `http://localhost:${served.port}`;
    const headers = { host: `localhost:${served.port}`, origin, 'sec-fetch-site': 'same-origin' };
    expect(await ask(served, '/api/v1/snapshot', { headers })).toMatchObject({ status: 200 });
  });
});

// promise: server-entry
describe('a WebSocket', () => {
  function expectClosed(opened: Opened): void {
    expect(opened).toEqual({ kind: 'refused', status: 401, body: refused });
  }

  test('without a ticket, or with the token in its place, is refused', async () => {
    const { token } = served.server.keys;
    expectClosed(await openSocket(served, ''));
    expectClosed(await openSocket(served, `?ticket=${token}`));
    expectClosed(await openSocket(served, '', { authorization: `Bearer ${token}` }));
  });

  test.each([
    ['of a page on another port', { origin: 'http://localhost:3000' }],
    ['of a page of another site', { origin: 'https://attacker.example' }],
    ['of a page without an origin', { origin: 'null' }],
    ['of a rebound name', { host: 'attacker.example:80', origin: 'http://attacker.example' }],
    ['that a browser calls cross-site', { 'sec-fetch-site': 'cross-site' }],
  ])('%s is refused, even with a stolen ticket, which stays good', async (_, headers) => {
    const ticket = await ticketOf(served);
    expectClosed(await openSocket(served, `?ticket=${ticket}`, headers));
    expect(served.server.keys.useTicket(ticket)).toBe(true);
  });

  test('opens with a ticket once', async () => {
    const ticket = await ticketOf(served);
    const first = await openSocket(served, `?ticket=${ticket}`);
    expect(first.kind).toBe('open');
    expectClosed(await openSocket(served, `?ticket=${ticket}`));
    if (first.kind === 'open') first.socket.terminate();
  });

  test('for the output of a session needs a ticket, too', async () => {
    const open = (query: string, headers = {}) =>
      openSocket(served, query, headers, '/api/v1/tasks/cp-aaaa/output');
    expectClosed(await open(''));
    expectClosed(await open(`?ticket=${served.server.keys.token}`));
    const ticket = await ticketOf(served);
    expectClosed(await open(`?ticket=${ticket}`, { origin: 'http://localhost:3000' }));
    const first = await open(`?ticket=${ticket}`);
    expect(first.kind).toBe('open');
    expectClosed(await open(`?ticket=${ticket}`));
    if (first.kind === 'open') first.socket.terminate();
  });

  test('opens on no other path', async () => {
    const ticket = await ticketOf(served);
    const head = `Host: localhost:${served.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
    for (const path of ['/', '/api/v1/snapshot', '/api/v1/events', '/api/v1/stream/..'])
      expect(await sendRaw(served.port, `GET ${path}?ticket=${ticket} HTTP/1.1\r\n${head}`).ended).toMatch(
        /^HTTP\/1\.1 401 /,
      );
  });

  test('that is refused holds no connection, even if the client keeps its side open', async () => {
    await using own = await newServed();
    const sockets = Array.from({ length: 5 }, () =>
      connect({ port: own.port, host: '127.0.0.1', allowHalfOpen: true })
        .on('error', () => {})
        .resume(),
    );
    for (const socket of sockets)
      socket.write(
        `GET /api/v1/stream HTTP/1.1\r\nHost: localhost:${own.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      );
    const metrics = async () => (await ask(own, '/metrics')).body;
    while (!(await metrics()).includes('copse_refused_requests_total 5'));
    while (!(await metrics()).includes('copse_connections 1\n'))
      await new Promise((go) => setTimeout(go, 20));
    expect(await metrics()).toContain('copse_connections 1\n');
    for (const socket of sockets) socket.destroy();
  });

  test('that does not answer does not keep the server from stopping', async () => {
    await using own = await newServed({ limits: { farewellMs: 600_000 } });
    const opened = await openSocket(own, `?ticket=${await ticketOf(own)}`);
    if (opened.kind === 'open') opened.socket.pause();
    expect(await own.server.close()).toBeUndefined();
    if (opened.kind === 'open') opened.socket.terminate();
  });

  test('that sends a frame of more than 64 KB is closed, and no other', async () => {
    const [large, other] = [
      await openSocket(served, `?ticket=${await ticketOf(served)}`),
      await openSocket(served, `?ticket=${await ticketOf(served)}`),
    ];
    if (large.kind !== 'open' || other.kind !== 'open') throw new Error('Both should be open');
    const closed = new Promise<number>((resolve) => large.socket.once('close', resolve));
    large.socket.on('error', () => {});
    other.socket.send('x'.repeat(64 * 1024));
    large.socket.send('x'.repeat(64 * 1024 + 1));
    expect(await closed).toBe(1009);
    await new Promise((resolve) => {
      other.socket.once('pong', resolve);
      other.socket.ping();
    });
    expect(other.socket.readyState).toBe(other.socket.OPEN);
    other.socket.terminate();
  });
});

// promise: server-entry
describe('a code', () => {
  const enter = (code: unknown) =>
    ask(served, '/api/v1/enter', { method: 'POST', body: JSON.stringify({ code }), token: false });

  test('becomes a token once; a replay is refused', async () => {
    const code = served.server.keys.newCode();
    const first = await enter(code);
    expect(first.status).toBe(200);
    const { token } = JSON.parse(first.body) as { token: string };
    expect(await ask(served, '/api/v1/snapshot', { token })).toMatchObject({ status: 200 });
    expect(await enter(code)).toMatchObject({ status: 401, body: refused });
  });

  test('still lets the person in after strangers guessed', async () => {
    const code = served.server.keys.newCode();
    for (let tries = 0; tries < 11; tries += 1)
      expect(await enter(`guess ${tries}`)).toMatchObject({ status: 401, body: refused });
    expect(await enter(code)).toMatchObject({ status: 200 });
  });

  test.each(['{', '[]', '"x"', 'null', '{"code":1}', '{"code":["x"]}', '', 'large'])(
    'in the body %j is none',
    async (text) => {
      const body = text === 'large' ? `{"code":"${'x'.repeat(2_000)}"}` : text;
      const answer = await ask(served, '/api/v1/enter', { method: 'POST', body, token: false });
      expect(answer).toMatchObject({ status: 401, body: refused });
    },
  );

  test('a new one is given for a token', async () => {
    const { status, body } = await ask(served, '/api/v1/code', { method: 'POST' });
    const { url } = JSON.parse(body) as { url: string };
    expect(status).toBe(201);
    expect(url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${served.port}/#code=[\\w-]{43}$`));
    expect(await enter(url.split('#code=')[1])).toMatchObject({ status: 200 });
  });
});

test('every answer has the headers that keep browsers from using it elsewhere', async () => {
  for (const asked of [{}, { token: false as const }]) {
    const { headers } = await ask(served, '/api/v1/snapshot', asked);
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    });
  }
});

// promise: server-secrets
test('no token, code or ticket is in what the server tells the person', async () => {
  const { keys } = served.server;
  const [ticket, code] = [keys.newTicket(), keys.newCode()];
  await ask(served, `/api/v1/snapshot?token=${keys.token}&code=${code}`, {
    headers: { host: 'attacker.example' },
  });
  await openSocket(served, `?ticket=${ticket}`, { origin: 'http://told.example' });
  expect(served.problems.join('\n')).toContain('told.example');
  for (const secret of [keys.token, ticket, code]) expect(served.problems.join('\n')).not.toContain(secret);
});

test('a text of a client cannot write a header', async () => {
  const injected = '%0d%0aSet-Cookie:%20a=b';
  for (const path of [`/api/v1/${injected}`, `/api/v1/events?after=${injected}`]) {
    const { headers, status } = await ask(served, path);
    expect({ cookie: headers['set-cookie'], isError: status >= 400 }).toEqual({
      cookie: undefined,
      isError: true,
    });
  }
});

test('a text of a client cannot write a header of a refused upgrade, which the server writes by hand', async () => {
  const query = `?ticket=${await ticketOf(served)}&after=0%0d%0aSet-Cookie:%20a=b`;
  const { ended } = sendRaw(
    served.port,
    `GET /api/v1/stream${query} HTTP/1.1\r\nHost: localhost:${served.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  const [head = ''] = (await ended).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(head).not.toMatch(/set-cookie/i);
});

describe('a request that is no request', () => {
  const host = () => `Host: localhost:${served.port}\r\n`;
  const token = () => `Authorization: Bearer ${served.server.keys.token}\r\n`;

  test.each([
    [
      'two hosts',
      401,
      () => `GET /healthz HTTP/1.1\r\n${host()}Host: attacker.example\r\nConnection: close\r\n\r\n`,
    ],
    [
      // An old Node.js leaves out all headers after the first thousand.
      'another host behind a thousand headers',
      431,
      () =>
        `GET /healthz HTTP/1.1\r\n${host()}${'A:\r\n'.repeat(1_100)}Host: attacker.example\r\nConnection: close\r\n\r\n`,
    ],
    ['no host', 400, () => `GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n`],
    [
      'two tokens',
      401,
      () => `GET /metrics HTTP/1.1\r\n${host()}${token()}${token()}Connection: close\r\n\r\n`,
    ],
    [
      'the address of another server',
      401,
      () => `GET http://attacker.example/healthz HTTP/1.1\r\n${host()}Connection: close\r\n\r\n`,
    ],
    [
      'a length and chunks (smuggling)',
      400,
      () =>
        `POST /api/v1/enter HTTP/1.1\r\n${host()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'a header over two lines',
      400,
      () => `GET /healthz HTTP/1.1\r\n${host()}X-A: b\r\n\tc: d\nSet-Cookie x\r\n\r\n`,
    ],
    ['no words of HTTP', 400, () => `\0\x01\x02 nonsense\r\n\r\n`],
    [
      'headers of more than 16 KB',
      431,
      () => `GET /healthz HTTP/1.1\r\n${host()}X-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
  ])('but has %s is answered with %i', async (_, status, bytes) => {
    expect(await sendRaw(served.port, bytes()).ended).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(await isWell()).toBe(200);
  });

  test('with an address of more than 2 KB is refused, and told why', async () => {
    expect(await ask(served, `/api/v1/snapshot?x=${'x'.repeat(3_000)}`)).toMatchObject({ status: 400 });
  });

  test('a tunnel is not opened', async () => {
    const got = await sendRaw(
      served.port,
      `CONNECT attacker.example:443 HTTP/1.1\r\nHost: attacker.example:443\r\n\r\n`,
    ).ended;
    expect(got).toBe('');
    expect(await isWell()).toBe(200);
  });
});

describe('a client that is slow or sends too much', () => {
  let small: Served;
  beforeAll(async () => {
    small = await newServed({
      limits: { headersMs: 400, requestMs: 400, bodyBytes: 1_000 },
      receive: () => () => Promise.reject(new Error('No body should get here')),
    });
  });
  afterAll(() => small[Symbol.asyncDispose]());

  test('with headers that never end, or that says nothing at all, is cut off', async () => {
    await using hasty = await newServed({ limits: { headersMs: 200 } });
    const { ended } = sendRaw(hasty.port, `GET /healthz HTTP/1.1\r\nHost: localhost:${hasty.port}\r\nX-`);
    expect(await ended).toMatch(/^HTTP\/1\.1 408 /);
    expect(await sendRaw(hasty.port, '').ended).not.toContain('200');
  });

  test('with a body that never ends is cut off', async () => {
    const { ended } = sendRaw(
      small.port,
      `POST /api/v1/enter HTTP/1.1\r\nHost: localhost:${small.port}\r\nContent-Length: 100\r\n\r\nabc`,
    );
    expect(await ended).toMatch(/^HTTP\/1\.1 (408|503) /);
  });

  test('with a body that is too large is refused by its length, or when it gets too long', async () => {
    const body = 'x'.repeat(1_001);
    const send = (headers: Readonly<Record<string, string>>) =>
      ask(small, '/triggers/deploy', {
        method: 'POST',
        body,
        headers: { 'x-copse-signature': 'x', ...headers },
        token: false,
      });
    const known = await send({});
    expect(known).toMatchObject({ status: 413 });
    expect(JSON.parse(known.body)).toMatchObject({ code: 'too_large' });
    expect(await send({ 'transfer-encoding': 'chunked' })).toMatchObject({ status: 413 });
  });
});

test('a client that sends many requests without waiting for their answers is cut off', async () => {
  const one = `GET /healthz HTTP/1.1\r\nHost: localhost:${served.port}\r\n`;
  const answers = async (count: number) => {
    const bytes = `${`${one}\r\n`.repeat(count - 1)}${one}Connection: close\r\n\r\n`;
    return (await sendRaw(served.port, bytes).ended).match(/^HTTP\/1\.1 200 /gm)?.length ?? 0;
  };
  expect(await answers(10)).toBe(10);
  expect(await answers(500)).toBeLessThan(100);
  expect(await isWell()).toBe(200);
});

test('of 300 clients that come at once, more than the limit are closed at the door', async () => {
  await using crowded = await newServed({ limits: { connections: 20 } });
  let closed = 0;
  const sockets: Socket[] = Array.from({ length: 300 }, () =>
    connect(crowded.port, '127.0.0.1')
      .on('error', () => {})
      .on('close', () => (closed += 1))
      .resume(),
  );
  await until(() => closed >= 280);
  expect(closed).toBe(280);
  for (const socket of sockets) socket.destroy();
  await until(() => closed === 300);
  let status = 0;
  // The server hears a moment later that they are gone.
  while (status !== 200)
    status = await ask(crowded, '/healthz').then(
      (got) => got.status,
      () => 0,
    );
});

test('requests that wait for a board that is away are bounded, and the rest is told that nothing was done', async () => {
  await using waiting = await newServed({
    limits: { headersMs: 50, requestMs: 50, working: 3 },
    board: (board) =>
      new Proxy(board, {
        get: (target, name) =>
          name === 'countByStatus' ? () => new Promise(() => {}) : boundTo(target, name),
      }),
  });
  for (let count = 0; count < 3; count += 1)
    expect(JSON.parse((await ask(waiting, '/metrics')).body)).toMatchObject({ code: 'late' });
  expect(JSON.parse((await ask(waiting, '/metrics')).body)).toMatchObject({ status: 503, code: 'busy' });
  expect((await ask(waiting, '/healthz', { token: false })).status).toBe(200);
});

test('a handler that fails answers, and the server goes on', async () => {
  await using broken = await newServed({
    board: (board) =>
      new Proxy(board, {
        get: (target, name) =>
          name === 'countByStatus'
            ? () => Promise.reject(new Error('the disk is gone'))
            : boundTo(target, name),
      }),
  });
  const { status, body } = await ask(broken, '/metrics');
  expect({ status, code: (JSON.parse(body) as { code: string }).code }).toEqual({
    status: 500,
    code: 'unexpected',
  });
  expect(body).not.toContain('the disk is gone');
  expect(broken.problems.join('')).toContain('the disk is gone');
  expect((await ask(broken, '/api/v1/snapshot')).status).toBe(200);
});

function boundTo(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}
