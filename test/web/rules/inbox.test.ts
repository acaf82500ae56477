import { describe, expect, test } from 'vitest';

import { keyOf } from '../../../packages/copse/src/explain/rules/inbox/answers.ts';
import type { GivenAnswer, Need } from '../../../packages/web/src/pages/inbox/answering.ts';
import {
  type FieldMap,
  withField,
  withText,
  withoutEmptyFields,
} from '../../../packages/web/src/pages/inbox/fields.ts';
import {
  decideChoice,
  decideKey,
  decidePress,
  readingOf,
} from '../../../packages/web/src/pages/inbox/keys.ts';
import {
  type Row,
  type Selection,
  allRows,
  decideSelection,
} from '../../../packages/web/src/pages/inbox/rows.ts';
import {
  type AnswerState,
  type OwnAnswers,
  isHidden,
  isLostWithPage,
  notSent,
  outlivingBytes,
} from '../../../packages/web/src/pages/inbox/sending.ts';

function need(task: string, kind: Need['kind'] = 'question', since = '2026-01-01T00:00:00.000Z'): Need {
  const status = kind === 'review' ? 'in_review' : 'stuck';
  const words = { reason: 'Which?', details: 'Which?', command: `copse show ${task}` };
  return { task, title: task, status, since, kind, ...words, unblocks: 0, agent: null };
}

function row(task: string, more: Partial<Row> = {}, kind: Need['kind'] = 'question'): Row {
  const one = need(task, kind);
  return { key: keyOf(one), need: one, isGone: false, ...more };
}

const about = (one: Need) => ({ need: one, question: undefined, head: undefined });
const [a, b, c] = [need('cp-a'), need('cp-b'), need('cp-c')];
const [keyA, keyB, keyC] = [keyOf(a), keyOf(b), keyOf(c)];
const none: FieldMap = new Map();
const typed = withText(withField(none, about(a), 'restart_with'), keyA, 'restart please');

describe('lines', () => {
  test.each<[string, Parameters<typeof allRows>[0], readonly string[]]>([
    ['are in the order of the list', { listed: [a, b], order: [], fields: none }, ['cp-a', 'cp-b']],
    [
      'stay in place, and new ones follow',
      { listed: [c, b, a], order: [keyA, keyB], fields: none },
      ['cp-a', 'cp-b', 'cp-c'],
    ],
    ['go when they were answered elsewhere', { listed: [b], order: [keyA, keyB], fields: none }, ['cp-b']],
    ['stay in place with a text', { listed: [b], order: [keyA, keyB], fields: typed }, ['cp-a gone', 'cp-b']],
    ['are there with a text of before', { listed: [b], order: [], fields: typed }, ['cp-b', 'cp-a gone']],
    [
      'stay with a text beside a later question of the task',
      { listed: [need('cp-a', 'question', '2026-01-02T00:00:00.000Z')], order: [keyA], fields: typed },
      ['cp-a gone', 'cp-a'],
    ],
  ])('%s', (_, facts, expected) => {
    expect(
      allRows(facts).map(({ need: { task }, isGone }) => `${task}${isGone ? ' gone' : ''}`),
    ).toStrictEqual(expected);
  });

  test('an empty field is closed when another line is opened, a text is kept', () => {
    const fields = withField(typed, about(b), 'restart_with');
    expect([...withoutEmptyFields(fields, keyC).keys()]).toStrictEqual([keyA]);
    expect([...withoutEmptyFields(fields, keyB).keys()]).toStrictEqual([keyA, keyB]);
  });
});

describe('the open line', () => {
  const rows = [row('cp-a'), row('cp-b'), row('cp-c')];
  const start: Selection = { key: undefined, place: 0, wanted: undefined };
  const onB: Selection = { key: keyB, place: 1, wanted: undefined };
  const linked: Selection = { ...start, wanted: 'cp-c' };
  const laterB = row('cp-b', { key: 'cp-b question later' });
  test.each<[string, Selection, readonly Row[], { isCurrent?: boolean; isHere?: boolean }, string, string?]>([
    ['is the first', start, rows, {}, 'cp-a'],
    ['is none in an empty inbox', start, [], {}, 'none'],
    ['stays', onB, [row('cp-c'), row('cp-b')], {}, 'cp-b'],
    ['is the next one after an answer', onB, [row('cp-a'), row('cp-c')], { isHere: true }, 'cp-c'],
    [
      'is the next one after an answer elsewhere, said',
      onB,
      [row('cp-a'), row('cp-c')],
      {},
      'cp-c',
      'cp-b was answered elsewhere.',
    ],
    [
      'is the last one if there is none in its place',
      { ...onB, place: 2 },
      [row('cp-a')],
      { isHere: true },
      'cp-a',
    ],
    [
      'is the later question of its task',
      onB,
      [row('cp-a'), row('cp-c'), laterB],
      {},
      'cp-b',
      'cp-b was answered elsewhere.',
    ],
    ['is that of a link', linked, rows, {}, 'cp-c'],
    [
      'is none while an old list lacks that of a link',
      linked,
      [row('cp-a')],
      { isCurrent: false },
      'none wanted cp-c',
    ],
    ['is that of a link in an old list', linked, rows, { isCurrent: false }, 'cp-c wanted cp-c'],
    [
      'is the later one of a link',
      { ...linked, key: keyC },
      [row('cp-a'), row('cp-c', { key: 'cp-c question later' })],
      {},
      'cp-c',
    ],
    [
      'is the first, said, when a list of now lacks that of a link',
      linked,
      [row('cp-a')],
      {},
      'cp-a',
      'cp-c does not wait for you now.',
    ],
  ])('%s', (_, before, now, { isCurrent = true, isHere = false }, expected, said) => {
    const decided = decideSelection(before, { rows: now, isCurrent, isAnsweredHere: () => isHere });
    const { wanted } = decided.selection;
    const task = now[decided.index]?.need.task ?? 'none';
    expect([`${task}${wanted === undefined ? '' : ` wanted ${wanted}`}`, decided.said]).toStrictEqual([
      expected,
      said,
    ]);
    expect(decided.selection.key).toBe(now[decided.index]?.key);
    // Once decided, it is decided.
    expect(
      decideSelection(decided.selection, { rows: now, isCurrent, isAnsweredHere: () => isHere }).said,
    ).toBeUndefined();
  });
});

describe('a key', () => {
  const one = row('cp-b');
  test.each<[string, Partial<Parameters<typeof decideKey>[0]>, string]>([
    ['is pressed', {}, 'pressed'],
    ['is not pressed again while it is held down', { last: { key: 'r', atMs: 9_900 } }, 'ignored'],
    ['answers nothing in an empty inbox', { row: undefined }, 'ignored'],
    [
      'answers nothing while the task of a link is looked for',
      { row: undefined, wanted: 'cp-c' },
      'The inbox is still being read for cp-c. Try again in a moment.',
    ],
    [
      'does not answer what was opened a moment ago by the page',
      { movedAtMs: 9_500 },
      'cp-b is open now. Press r again to answer it.',
    ],
    ['answers what was opened before that', { movedAtMs: 8_000 }, 'pressed'],
  ])('%s', (_, facts, expected) => {
    const decision = decideKey({
      key: { key: 'r', atMs: 10_000 },
      last: undefined,
      row: one,
      wanted: undefined,
      movedAtMs: undefined,
      ...facts,
    });
    expect(decision.kind === 'said' ? decision.text : decision.kind).toBe(expected);
  });

  const review = row('cp-r', {}, 'review');
  const ready = { row: row('cp-a'), reading: 'ready', head: undefined } as const;
  test.each<[string, string, Parameters<typeof decidePress>[1], string]>([
    ['answers', 'r', { ...ready, isTyped: false }, 'given restart'],
    ['asks for a text', 't', { ...ready, isTyped: false }, 'asked restart_with'],
    ['asks before it cancels', 'c', { ...ready, isTyped: false }, 'asked cancel'],
    ['says that it is no answer', 'y', { ...ready, isTyped: false }, 'y is no answer to cp-a.'],
    ['leads back to a text', 'r', { ...ready, isTyped: true }, 'back'],
    [
      'approves the commit that is shown',
      'a',
      { ...ready, row: review, head: 'a1', isTyped: false },
      'given approve',
    ],
    [
      'approves no commit that is not shown',
      'a',
      { ...ready, row: review, isTyped: false },
      'The change of cp-r cannot be shown, so it cannot be approved here.',
    ],
    [
      'waits for what it is about',
      'a',
      { ...ready, row: review, reading: 'reading', isTyped: false },
      'cp-r is still being read. Try again in a moment.',
    ],
    [
      'approves no newer commit',
      'a',
      { ...ready, row: review, reading: 'moved', isTyped: false },
      'cp-r has a newer commit. Look at it first.',
    ],
    [
      'answers no need that is gone',
      'r',
      { ...ready, row: row('cp-a', { isGone: true }), isTyped: false },
      'cp-a was answered elsewhere.',
    ],
  ])('%s', (_, key, facts, expected) => {
    const choice = decidePress(key, facts);
    if (choice.kind === 'said') expect(choice.toast.text).toBe(expected);
    else expect('answer' in choice ? `${choice.kind} ${choice.answer}` : choice.kind).toBe(expected);
  });

  test('cancels also what is still being read', () => {
    expect(decideChoice('cancel', { ...ready, reading: 'reading' })).toStrictEqual({
      kind: 'asked',
      answer: 'cancel',
    });
  });
});

test.each<[Parameters<typeof readingOf>[0], string]>([
  [{ isKnown: false, readHead: undefined, head: undefined }, 'reading'],
  [{ isKnown: true, readHead: undefined, head: undefined }, 'ready'],
  [{ isKnown: true, readHead: undefined, head: 'a' }, 'ready'],
  [{ isKnown: true, readHead: 'a', head: 'a' }, 'ready'],
  [{ isKnown: true, readHead: 'a', head: 'b' }, 'moved'],
  [{ isKnown: true, readHead: 'a', head: undefined }, 'ready'],
])('%o is %s', (facts, expected) => {
  expect(readingOf(facts)).toBe(expected);
});

describe('an answer', () => {
  const given = (text = ''): GivenAnswer => ({ ...about(a), answer: 'restart', text });
  const answers = (state: AnswerState, text = ''): OwnAnswers =>
    new Map([[keyA, { given: given(text), state }]]);
  const long = 'x'.repeat(70_000);
  test.each<[AnswerState, { isHidden: boolean; isNotSent: boolean }]>([
    [{ kind: 'held' }, { isHidden: true, isNotSent: true }],
    [{ kind: 'asked' }, { isHidden: true, isNotSent: true }],
    [
      { kind: 'sending', outlivingBytes: 1 },
      { isHidden: true, isNotSent: false },
    ],
    // The list is of 100.
    [
      { kind: 'done', listedAtMs: 101 },
      { isHidden: true, isNotSent: false },
    ],
    [
      { kind: 'done', listedAtMs: 100 },
      { isHidden: false, isNotSent: false },
    ],
  ])('%o', (state, expected) => {
    const now = answers(state);
    expect({ isHidden: isHidden(now, keyA, 100), isNotSent: notSent(now).length === 1 }).toStrictEqual(
      expected,
    );
  });

  test('is not hidden if it was given elsewhere', () => {
    expect(isHidden(answers({ kind: 'held' }), keyB, 100)).toBe(false);
  });

  test.each<[string, AnswerState, string, boolean]>([
    ['short', { kind: 'held' }, '', false],
    ['too long for a page that is gone', { kind: 'held' }, long, true],
    ['too long, and looked for', { kind: 'asked' }, long, true],
    ['too long, and on its way', { kind: 'sending', outlivingBytes: 0 }, long, true],
    ['on its way', { kind: 'sending', outlivingBytes: 2_000 }, '', false],
    ['done', { kind: 'done', listedAtMs: 1 }, long, false],
  ])('the page asks before it is closed: %s', (_, state, text, expected) => {
    expect(isLostWithPage(answers(state, text))).toBe(expected);
  });

  test('what is on its way leaves less room for the next', () => {
    const half = 'ä'.repeat(20_000);
    expect(outlivingBytes(new Map(), given(half))).toBe(41_002);
    expect(outlivingBytes(answers({ kind: 'sending', outlivingBytes: 41_002 }), given(half))).toBe(0);
    expect(outlivingBytes(answers({ kind: 'sending', outlivingBytes: 41_002 }), given())).toBeGreaterThan(0);
  });
});
