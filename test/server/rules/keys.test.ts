/** Codes, tokens and tickets, with a clock of the test. */

import { expect, test } from 'vitest';

import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { ServerKeys } from '../../../packages/copse/src/server/keys.ts';

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

test('a code ends after ten wrong tries', () => {
  const { keys } = newKeys();
  const patient = keys.newCode();
  for (let tries = 0; tries < 9; tries += 1) keys.enter('wrong');
  expect(keys.enter(patient)).toBeDefined();
  const code = keys.newCode();
  for (let tries = 0; tries < 10; tries += 1) keys.enter('wrong');
  expect(keys.enter(code)).toBeUndefined();
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
