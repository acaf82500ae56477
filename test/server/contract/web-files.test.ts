/** The files of the dashboard: public, and only those that the build made. */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { newArea } from '../../support/cli.ts';
import { type Served, ask, newServed } from '../../support/server/served.ts';

let served: Served;
const area = newArea();
const webFolder = path.join(area, 'web');

beforeAll(async () => {
  mkdirSync(path.join(webFolder, 'assets', 'deep'), { recursive: true });
  writeFileSync(path.join(area, 'secret.txt'), 'secret');
  writeFileSync(path.join(webFolder, 'index.html'), '<!doctype html>');
  writeFileSync(path.join(webFolder, 'icon.svg'), '<svg/>');
  writeFileSync(path.join(webFolder, '.built-from'), 'secret');
  writeFileSync(path.join(webFolder, 'assets', 'page-1.js'), 'export {};');
  writeFileSync(path.join(webFolder, 'assets', 'deep', 'x.js'), 'secret');
  symlinkSync(path.join(area, 'secret.txt'), path.join(webFolder, 'assets', 'link.js'));
  served = await newServed({ webFolder });
});
afterAll(() => served[Symbol.asyncDispose]());

const read = (file: string, headers = {}) => ask(served, file, { token: false, headers });

test.each(['/', '/inbox', '/board', '/tasks/cp-a1b2', '/health'])(
  '%s is the page, with a policy that lets it load only its own scripts',
  async (address) => {
    const { status, headers, body } = await read(address);
    expect({ status, body }).toEqual({ status: 200, body: '<!doctype html>' });
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    expect(headers['referrer-policy']).toBe('no-referrer');
  },
);

test('a file whose name changes with its content is kept by the browser, the page is asked for again', async () => {
  const asset = await read('/assets/page-1.js');
  expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(asset.headers['content-type']).toBe('text/javascript; charset=utf-8');
  const page = await read('/');
  expect(page.headers['cache-control']).toBe('no-cache');
  const again = await read('/', { 'if-none-match': page.headers.etag });
  expect({ status: again.status, body: again.body }).toEqual({ status: 304, body: '' });
});

// promise: server-entry
describe('nothing else is read', () => {
  test.each([
    '/secret.txt',
    '/.built-from',
    '/index.html.map',
    '/assets',
    '/assets/link.js',
    '/assets/deep/x.js',
    '/assets/../../secret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/assets//page-1.js',
    '/assets/page-1.js%00.css',
    '/assets/constructor',
    '/inboxes',
  ])('%s is a path that needs a token', async (address) => {
    expect((await read(address)).status).toBe(401);
  });

  test.each([
    ['/board', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 200],
    ['/board', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, 401],
    ['/board', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'document' }, 401],
    ['/board', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, 401],
    ['/assets/page-1.js', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 401],
    ['/api/v1/snapshot', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 401],
  ])('of another site, only a link opens a page: %s %j', async (address, headers, status) => {
    const got = await ask(served, address, { headers: { ...headers, 'sec-fetch-site': 'cross-site' } });
    expect(got.status).toBe(status);
  });

  test('and a page on another port may not load it', async () => {
    const headers = { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' };
    expect((await read('/assets/page-1.js', headers)).status).toBe(401);
  });
});

test('before a build it says how to build', async () => {
  await using bare = await newServed({ webFolder: path.join(area, 'nothing') });
  const { status, body } = await ask(bare, '/', { token: false });
  expect({ status, body }).toEqual({ status: 503, body: expect.stringContaining('npm run build') as string });
});

test('files that could not be read once are read again', async () => {
  const folder = path.join(area, 'replaced');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(path.join(folder, 'assets'), 'no folder');
  await using own = await newServed({ webFolder: folder });
  expect((await ask(own, '/', { token: false })).status).toBe(500);
  rmSync(path.join(folder, 'assets'));
  expect((await ask(own, '/', { token: false })).status).toBe(200);
});
