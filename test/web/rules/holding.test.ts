import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { keyOf } from '../../../packages/copse/src/explain/rules/inbox/answers.ts';
import type { Toast } from '../../../packages/web/src/parts/shown-toasts.ts';
import type { GivenAnswer, Need } from '../../../packages/web/src/pages/inbox/answering.ts';
import { withField, withText } from '../../../packages/web/src/pages/inbox/fields.ts';
import { Holding } from '../../../packages/web/src/pages/inbox/holding.ts';
import { isHidden } from '../../../packages/web/src/pages/inbox/sending.ts';

const need: Need = {
  task: 'cp-a',
  title: 'A',
  status: 'stuck',
  since: '2026-01-01T00:00:00.000Z',
  kind: 'question',
  reason: 'Which?',
  details: 'Which?',
  command: 'copse show cp-a',
  unblocks: 0,
  agent: null,
};
const key = keyOf(need);
const about = { need, question: undefined, head: undefined };
const given: GivenAnswer = { ...about, answer: 'restart_with', text: 'The first' };

interface Call {
  readonly name: string;
  readonly options: unknown;
  readonly answer: (output: unknown) => void;
  readonly refuse: (error: Error) => void;
}

/** A server that answers when the test says so. */
function scene() {
  const calls: Call[] = [];
  const toasts: Toast[] = [];
  const call = (name: string, _: unknown, options: unknown) =>
    new Promise<never>((resolve, reject) => {
      calls.push({ name, options, answer: resolve as (output: unknown) => void, refuse: reject });
    });
  const holding = new Holding({ call });
  holding.fields.set(withText(withField(new Map(), about, 'restart_with'), key, given.text));
  holding.hold(given, (toast) => toasts.push(toast));
  const names = () => calls.map(({ name }) => name);
  const list = (at: number, needsYou = [need]) => ({ at: new Date(at).toISOString(), needsYou });
  const settle = async (act: (last: Call) => void) => {
    const last = calls.at(-1);
    if (last) act(last);
    await vi.advanceTimersByTimeAsync(0);
  };
  const isShown = (listedAt: number) => !isHidden(holding.answers, key, listedAt);
  return { holding, calls, names, toasts, list, settle, isShown };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('after its moment the inbox is asked, then the answer is sent, and a list of later is right', async () => {
  const { holding, calls, names, list, settle, isShown } = scene();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(names()).toStrictEqual(['inbox.list']);
  await settle(({ answer }) => answer(list(100)));
  expect(names()).toStrictEqual(['inbox.list', 'task.restart']);
  expect(calls[1]?.options).toStrictEqual({ keepalive: true });
  await settle(({ answer }) => answer({}));
  expect(holding.fields.now.size).toBe(0);
  expect(isShown(150)).toBe(false);
  await settle(({ answer }) => answer(list(200)));
  expect(isShown(150)).toBe(false);
  // It waits for a person again.
  expect(isShown(200)).toBe(true);
});

test.each([
  ['held', 0],
  ['looked for', 5_000],
])('a page that is hidden sends what is %s at once, and once', async (_, afterMs) => {
  const { holding, calls, names, list, settle } = scene();
  await vi.advanceTimersByTimeAsync(afterMs);
  holding.sendAll();
  holding.sendAll();
  expect(names().at(-1)).toBe('task.restart');
  expect(calls.at(-1)?.options).toStrictEqual({ keepalive: true });
  calls.find(({ name }) => name === 'inbox.list')?.answer(list(100));
  await settle(() => {});
  expect(names().filter((name) => name === 'task.restart')).toHaveLength(1);
});

test('a refusal brings the need back, with its text in the field and in the message', async () => {
  const { holding, toasts, list, settle, isShown } = scene();
  await vi.advanceTimersByTimeAsync(5_000);
  await settle(({ answer }) => answer(list(100)));
  await settle(({ refuse }) => refuse(new Error('The server is away.')));
  expect(isShown(100)).toBe(true);
  expect(holding.fields.now.get(key)?.text).toBe('The first');
  expect(toasts.at(-1)).toStrictEqual({
    about: key,
    text: 'The server is away.',
    isProblem: true,
    next: ["copse restart cp-a --answer 'The first'"],
  });
});

test('a text for what was answered elsewhere is in a message that stays', async () => {
  const { toasts, list, settle, names } = scene();
  await vi.advanceTimersByTimeAsync(5_000);
  await settle(({ answer }) => answer(list(100, [])));
  expect(names()).toStrictEqual(['inbox.list']);
  expect(toasts.at(-1)).toStrictEqual({
    about: key,
    text: 'cp-a was answered elsewhere. Your text was not sent.',
    isProblem: true,
    next: ['copse why cp-a', "copse restart cp-a --answer 'The first'"],
  });
});

test('an answer elsewhere leaves the button that takes a newer answer back', async () => {
  const { holding, toasts, list, settle } = scene();
  const other: GivenAnswer = { ...given, need: { ...need, task: 'cp-b' }, answer: 'restart', text: '' };
  const next: GivenAnswer = { ...other, need: { ...need, task: 'cp-c' } };
  holding.takeBack();
  const say = (toast: Toast) => toasts.push(toast);
  holding.hold(other, say);
  holding.hold(next, say);
  await settle(({ answer }) => answer(list(100, [])));
  expect(toasts.at(-1)).toMatchObject({ text: 'cp-b was answered elsewhere.', isProblem: true });
});

test('a long answer is sent without a promise for a page that is gone', async () => {
  const { holding, calls } = scene();
  holding.takeBack();
  holding.hold({ ...given, text: 'x'.repeat(70_000) }, () => {});
  holding.sendAll();
  await vi.advanceTimersByTimeAsync(0);
  expect(calls.at(-1)).toMatchObject({ name: 'task.restart', options: { keepalive: false } });
});
