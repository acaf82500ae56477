/** The checks of a request's head: by table, without a server. */

import { describe, expect, test } from 'vitest';

import { placeOf } from '../../../packages/copse/src/cli/commands/server/place.ts';
import {
  bearerOf,
  checkHead,
  doorsOf,
  isHostName,
  isLoopbackName,
} from '../../../packages/copse/src/server/rules/entry.ts';

const doors = doorsOf({
  scheme: 'http',
  port: 4747,
  names: ['127.0.0.1', 'localhost', '::1'],
  proxied: ['copse.example.com'],
});

function refusedBy(head: { host?: string[]; origin?: string[]; fetchSite?: string[] }): string | null {
  const given = { host: ['localhost:4747'], origin: [], fetchSite: [], isPageOpened: false, ...head };
  const check = checkHead(given, doors);
  return check.kind === 'passed' ? null : check.check;
}

describe('the Host of a request', () => {
  test.each([
    ['127.0.0.1:4747', null],
    ['localhost:4747', null],
    ['LOCALHOST:4747', null],
    ['[::1]:4747', null],
    ['copse.example.com', null],
    ['attacker.example:4747', 'Host'],
    ['localhost', 'Host'],
    ['localhost:4748', 'Host'],
    ['localhost:4747.attacker.example', 'Host'],
    ['attacker.example#localhost:4747', 'Host'],
    ['localhost:4747@attacker.example', 'Host'],
    ['127.0.0.1.nip.io:4747', 'Host'],
    ['0.0.0.0:4747', 'Host'],
    ['2130706433:4747', 'Host'],
    ['localhost.:4747', 'Host'],
    ['copse.example.com:80', 'Host'],
    ['evil.copse.example.com', 'Host'],
    ['', 'Host'],
  ])('%j: refused by %s', (host, by) => {
    expect(refusedBy({ host: [host] })).toBe(by);
  });

  test('must be there once', () => {
    expect(refusedBy({ host: [] })).toBe('Host');
    expect(refusedBy({ host: ['localhost:4747', 'attacker.example'] })).toBe('Host');
  });
});

describe('the Origin of a request', () => {
  test.each([
    ['http://localhost:4747', null],
    ['http://127.0.0.1:4747', null],
    ['https://copse.example.com', null],
    ['https://localhost:4747', 'Origin'],
    ['http://localhost:3000', 'Origin'],
    ['http://localhost', 'Origin'],
    ['http://localhost:4747/', 'Origin'],
    ['http://copse.example.com', 'Origin'],
    ['http://attacker.example:4747', 'Origin'],
    ['null', 'Origin'],
    ['', 'Origin'],
    ['http://localhost:4747.attacker.example', 'Origin'],
  ])('%j: refused by %s', (origin, by) => {
    expect(refusedBy({ origin: [origin] })).toBe(by);
  });

  test('must not be there twice', () => {
    expect(refusedBy({ origin: ['http://localhost:4747', 'http://localhost:4747'] })).toBe('Origin');
  });
});

test.each([
  ['same-origin', null],
  ['none', null],
  ['same-site', 'Sec-Fetch-Site'],
  ['cross-site', 'Sec-Fetch-Site'],
  ['', 'Sec-Fetch-Site'],
  ['SAME-ORIGIN', 'Sec-Fetch-Site'],
])('a request whose Sec-Fetch-Site is %j: refused by %s', (site, by) => {
  expect(refusedBy({ fetchSite: [site] })).toBe(by);
});

test('the checks come in order: Host, Origin, Sec-Fetch-Site', () => {
  const wrong = { origin: ['null'], fetchSite: ['cross-site'] };
  expect(refusedBy({ host: ['attacker.example'], ...wrong })).toBe('Host');
  expect(refusedBy(wrong)).toBe('Origin');
});

test('on the usual port of its scheme, a host has no port', () => {
  const usual = doorsOf({ scheme: 'https', port: 443, names: ['copse.example.com'], proxied: [] });
  expect([...usual.hosts]).toEqual(['copse.example.com', 'copse.example.com:443']);
  expect([...usual.origins]).toEqual(['https://copse.example.com']);
});

test.each([
  [['Bearer abc_-9'], 'abc_-9'],
  [['bearer abc'], 'abc'],
  [['Basic abc'], undefined],
  [['Bearer '], undefined],
  [['Bearer a b'], undefined],
  [['Bearer abc', 'Bearer abc'], undefined],
  [[], undefined],
])('the token of %j is %j', (headers, token) => {
  expect(bearerOf(headers)).toBe(token);
});

test('names of this machine, and names of hosts', () => {
  expect(['localhost', '127.0.0.1', '127.8.9.1', '::1', '[::1]'].every(isLoopbackName)).toBe(true);
  expect(['0.0.0.0', '::', '127.0.0.1.nip.io', 'example.com', '10.0.0.1', ''].some(isLoopbackName)).toBe(
    false,
  );
  expect(['a.example', 'a-b.example:8443'].every(isHostName)).toBe(true);
  expect(['', '*', 'https://a.example', 'a b', 'a/b', 'a@b', '-a', 'a:b'].some(isHostName)).toBe(false);
});

// promise: server-entry
test.each([
  [undefined, '127.0.0.1', '127.0.0.1:4747'],
  ['localhost', '127.0.0.1', '127.0.0.1:4747'],
  ['127.0.0.2', '127.0.0.2', '127.0.0.2:4747'],
  ['::1', '::1', '[::1]:4747'],
])('the server of --host %s has no name but the address that it listens on', async (given, host, name) => {
  const place = await placeOf(undefined as never, given === undefined ? {} : { host: given });
  expect(place.host).toBe(host);
  const { hosts, origins } = doorsOf({ ...place, scheme: 'http' });
  expect([[...hosts], [...origins]]).toEqual([[name], [`http://${name}`]]);
});

test('in clear, an address of the network has no name beside those of the proxy', async () => {
  const proxy = ['copse.example.com'];
  const place = await placeOf(undefined as never, { host: '192.168.1.5', behindProxy: proxy });
  expect(place.host).toBe('192.168.1.5');
  const { hosts, origins } = doorsOf({ ...place, scheme: 'http' });
  expect([[...hosts], [...origins]]).toEqual([proxy, ['https://copse.example.com']]);
  const local = await placeOf(undefined as never, { behindProxy: proxy });
  expect([...doorsOf({ ...local, scheme: 'http' }).hosts]).toEqual(['127.0.0.1:4747', ...proxy]);
});
