/** Codes, tokens and tickets, with a clock of the test. */

import { readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { keptTokens } from '../../../packages/copse/src/server/kept-tokens.ts';
import { ServerKeys } from '../../../packages/copse/src/server/keys.ts';
import { newArea } from '../../support/cli.ts';

const limits = defaultPolicy.server;

function newKeys() {
  const clock = { ms: 0 };
  return { clock, keys: new ServerKeys(limits, () => clock.ms) };
}

test('a token is 32 random bytes, and no other text is one', () => {
  const { keys } = newKeys();
  expect(Buffer.from(keys.token, 'base64url')).toHaveLength(32);
  expect(keys.isToken(keys.token)).toBe(true);
  expect(new Set([keys.token, newKeys().keys.token]).size).toBe(2);
  for (const other of [
    undefined,
    '',
    `${keys.token}x`,
    keys.token.slice(1),
    keys.newCode(),
    keys.newTicket(),
  ])
    expect(keys.isToken(other)).toBe(false);
});

test('a code becomes a token once', () => {
  const { keys } = newKeys();
  const code = keys.newCode();
  const token = keys.enter(code);
  expect(keys.isToken(token)).toBe(true);
  expect(token).not.toBe(keys.token);
  expect(keys.enter(code)).toBeUndefined();
});

test('a code ends after 5 minutes, and with the next code', () => {
  const { keys, clock } = newKeys();
  const first = keys.newCode();
  const second = keys.newCode();
  expect(keys.enter(first)).toBeUndefined();
  clock.ms += 5 * 60_000;
  expect(keys.enter(second)).toBeUndefined();
  const third = keys.newCode();
  clock.ms += 5 * 60_000 - 1;
  expect(keys.enter(third)).toBeDefined();
});

test('wrong codes do not end the right one: strangers cannot keep the person out', () => {
  const { keys } = newKeys();
  const code = keys.newCode();
  for (let tries = 0; tries < 1_000; tries += 1)
    expect(keys.enter(tries % 2 === 0 ? 'wrong' : 'A'.repeat(43))).toBeUndefined();
  expect(keys.enter(code)).toBeDefined();
});

test('without a code, nothing enters', () => {
  const { keys } = newKeys();
  expect(keys.enter('')).toBeUndefined();
});

test('a ticket opens once, within 30 seconds', () => {
  const { keys, clock } = newKeys();
  const [first, second] = [keys.newTicket(), keys.newTicket()];
  expect(keys.useTicket(first)).toBe(true);
  expect(keys.useTicket(first)).toBe(false);
  clock.ms += 30_000;
  expect(keys.useTicket(second)).toBe(false);
  expect([undefined, '', keys.token].some((other) => keys.useTicket(other))).toBe(false);
});

test('of too many tickets and tokens, the oldest end', () => {
  const { keys } = newKeys();
  const tickets = Array.from({ length: limits.tickets + 1 }, () => keys.newTicket());
  expect([tickets[0], tickets[1], tickets.at(-1)].map((one) => keys.useTicket(one))).toEqual([
    false,
    true,
    true,
  ]);
  const tokens = Array.from({ length: limits.tokens + 1 }, () => keys.enter(keys.newCode()));
  expect([tokens[0], tokens[1], tokens.at(-1)].map((one) => keys.isToken(one))).toEqual([false, true, true]);
  expect(keys.isToken(keys.token)).toBe(true);
});

test('a page keeps its token when the server is started again, for 12 hours, and the file does not let its reader in', () => {
  const folder = newArea();
  const place = { folder, repository: '/r', host: '127.0.0.1', port: 4747, limits, onProblem: () => {} };
  const start = (at = place) => new ServerKeys(limits, () => 0, keptTokens(at));
  const keys = start();
  const token = keys.enter(keys.newCode()) ?? '';
  expect(start().isToken(token)).toBe(true);
  expect(start().isToken(keys.token)).toBe(false);
  for (const other of [{ repository: '/other' }, { port: 1 }, { host: '::1' }])
    expect(start({ ...place, ...other }).isToken(token)).toBe(false);
  const [file = ''] = readdirSync(folder);
  const kept = readFileSync(path.join(folder, file), 'utf8');
  expect(kept).not.toContain(token);
  for (const word of kept.split(/\s/)) expect(start().isToken(word)).toBe(false);
  expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
  const isTokenUntil = (untilMs: number) => {
    writeFileSync(path.join(folder, file), kept.replace(/^\d+/, String(untilMs)));
    return start().isToken(token);
  };
  expect(isTokenUntil(Date.now() - 1)).toBe(false);
  // The clock was set back, by a moment or by a day.
  expect(isTokenUntil(Date.now() + limits.pageTokenMs + 1_000)).toBe(true);
  expect(isTokenUntil(Date.now() + limits.pageTokenMs + 24 * 3_600_000)).toBe(false);
});

test('the token of a code that came twice ends with the server, and other tokens are kept', () => {
  const kept = keptTokens({
    folder: newArea(),
    repository: '/r',
    host: '127.0.0.1',
    port: 4747,
    limits,
    onProblem: () => {},
  });
  const keys = new ServerKeys(limits, () => 0, kept);
  const code = keys.newCode();
  const [doubtful, later] = [keys.enter(code) ?? '', keys.enter(keys.newCode()) ?? ''];
  expect([keys.endWithServerIfUsed(code), keys.endWithServerIfUsed(code)]).toEqual([true, false]);
  expect(keys.isToken(doubtful)).toBe(true);
  const again = new ServerKeys(limits, () => 0, kept);
  expect([again.isToken(doubtful), again.isToken(later)]).toEqual([false, true]);
});

test('a code lets a page in also when its token cannot be kept', () => {
  const told: string[] = [];
  const folder = path.join(newArea(), 'gone');
  const onProblem = (text: string) => void told.push(text);
  const kept = keptTokens({ folder, repository: '/r', host: '127.0.0.1', port: 4747, limits, onProblem });
  const keys = new ServerKeys(limits, () => 0, kept);
  expect(keys.isToken(keys.enter(keys.newCode()))).toBe(true);
  expect(told).toEqual([expect.stringContaining('need a new code once this server was started again')]);
});

test('files of kept tokens that have all ended are deleted when a server starts, and nothing else', () => {
  const folder = newArea();
  const onProblem = () => {};
  const place = (port: number) => ({ folder, repository: '/r', host: '127.0.0.1', port, limits, onProblem });
  const write = (port: number) => {
    const keys = new ServerKeys(limits, () => 0, keptTokens(place(port)));
    keys.enter(keys.newCode());
  };
  for (const port of [1, 2]) write(port);
  const [old = '', recent = ''] = readdirSync(folder);
  const seconds = Date.now() / 1_000 - limits.pageTokenMs / 1_000;
  writeFileSync(path.join(folder, '127.0.0.1-1.header'), '');
  for (const name of [old, '127.0.0.1-1.header'])
    utimesSync(path.join(folder, name), seconds - 1, seconds - 1);
  utimesSync(path.join(folder, recent), seconds + 60, seconds + 60);
  keptTokens(place(3));
  expect(readdirSync(folder)).toEqual(['127.0.0.1-1.header', recent].toSorted());
});
