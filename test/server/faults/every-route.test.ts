/** Without the token, every path that the server has says 401 and nothing else: the same bytes for all of them. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { ownPaths, webSockets } from '../../../packages/copse/src/server/api/own-paths.ts';
import { operationRoutes } from '../../../packages/copse/src/server/api/routes.ts';
import { mcpRoute } from '../../../packages/copse/src/server/mcp/route.ts';
import { ownRoutes } from '../../../packages/copse/src/server/routes.ts';
import { type Served, newServed, sendRaw } from '../../support/server/served.ts';

let served: Served;
beforeAll(async () => {
  served = await newServed();
});
afterAll(() => served[Symbol.asyncDispose]());

/** They need no token, and say so in the OpenAPI document. */
const OPEN = ['POST /api/v1/enter', 'GET /healthz', 'POST /triggers/{name}'];

const described = Object.entries(ownPaths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path}`,
    isOpen: (operation as { security?: readonly unknown[] }).security?.length === 0,
  })),
);
const routes = [
  ...[...ownRoutes, ...operationRoutes(operations), mcpRoute].map(({ method, path }) => `${method} ${path}`),
  // An upgrade without a ticket, as a plain request too.
  ...Object.keys(webSockets).map((path) => `GET ${path}`),
];

/** All that the server sends until it ends the connection, but the time. */
async function bytesOf(route: string, ...headers: readonly string[]): Promise<string> {
  const [method = '', path = ''] = route.replaceAll(/\{\w+\}/g, 'cp-none').split(' ');
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: localhost:${served.port}`,
    'Connection: close',
    ...headers,
  ];
  const got = await sendRaw(served.port, `${head.join('\r\n')}\r\n\r\n`).ended;
  return got.replace(/^date: .*\r\n/im, '');
}

test('the document names every path that is open, and there are three', () => {
  expect(described.filter(({ isOpen }) => isOpen).map(({ route }) => route)).toEqual(OPEN);
  expect(routes.filter((route) => OPEN.includes(route))).toEqual([]);
  expect(routes.length).toBeGreaterThan(operations.length);
});

// promise: server-entry
describe('without the token, the same bytes come from', () => {
  let expected: string;
  beforeAll(async () => {
    expected = await bytesOf('GET /no/such/path');
  });

  test('a path that it does not have, and they begin with 401', () => {
    expect(expected).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
  });

  test.each(routes)('%s', async (route) => {
    const wrong = `Authorization: Bearer ${'A'.repeat(43)}`;
    expect(await bytesOf(route)).toBe(expected);
    expect(await bytesOf(route, wrong)).toBe(expected);
    expect(await bytesOf(route, 'Content-Type: application/json', 'Content-Length: 2', '', '{}')).toBe(
      expected,
    );
  });

  test('an upgrade, in another order of headers', async () => {
    const upgrade = [
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
    ];
    const [head = '', body] = (await sendUpgrade(upgrade)).split('\r\n\r\n');
    const [wantedHead = '', wantedBody] = expected.split('\r\n\r\n');
    expect(body).toBe(wantedBody);
    expect(linesOf(head)).toEqual(linesOf(wantedHead));
  });
});

function sendUpgrade(headers: readonly string[]): Promise<string> {
  const head = [
    'GET /api/v1/stream HTTP/1.1',
    `Host: localhost:${served.port}`,
    'Connection: Upgrade',
    ...headers,
  ];
  return sendRaw(served.port, `${head.join('\r\n')}\r\n\r\n`).ended;
}

function linesOf(head: string): readonly string[] {
  return head
    .split('\r\n')
    .map((line) => line.toLowerCase())
    .toSorted();
}
