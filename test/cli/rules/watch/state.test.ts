import { describe, expect, test } from 'vitest';

import { actions, possibleActions, splitWords } from '../../../../packages/copse/src/cli/watch/actions.ts';
import { KeyParser } from '../../../../packages/copse/src/cli/screen/keys.ts';
import type { WatchEffect, WatchState } from '../../../../packages/copse/src/cli/watch/model.ts';
import {
  firstState,
  pageUpdated,
  press,
  toNextNeed,
  updated,
} from '../../../../packages/copse/src/cli/watch/state.ts';
import type { Overview } from '../../../../packages/copse/src/explain/rules/overview.ts';
import { type TaskId, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import { now, overviewOf, pausedTasks } from '../../../support/watch/overviews.ts';

const begun = updated(firstState, { overview: overviewOf(3), paused: pausedTasks }, now);
const later = now + 10_000;

/** The state after the keys, and the effects on the way. */
function typed(state: WatchState, keys: string, at = later) {
  const parser = new KeyParser();
  const effects: WatchEffect[] = [];
  let next = state;
  for (const key of [...parser.feed(Buffer.from(keys)), ...parser.flush()]) {
    const pressed = press(next, key, { rows: 24, now: at });
    next = pressed.state;
    if (pressed.effect !== null) effects.push(pressed.effect);
  }
  return { state: next, effects };
}

const at = (id: string): WatchState => ({ ...begun, selected: brand(`cp-${id}`) });
const run = (...argv: readonly string[]) => ({ kind: 'run', argv, isAnswer: true });

describe('a key runs the command for the selected task', () => {
  test.each([
    [
      'an answer to a question',
      'a1b2',
      'aone decimal\r',
      run('restart', 'cp-a1b2', '--answer', 'one decimal'),
    ],
    ['restart without an answer', 'a1b2', 'r', run('restart', 'cp-a1b2')],
    ['approve', 'e5f6', 'A', run('review', 'cp-e5f6', '--approve')],
    ['send back', 'e5f6', 'sadd a test\r', run('review', 'cp-e5f6', '--send-back', 'add a test')],
    ['cancel, after y', 'g7h8', 'cy', run('cancel', 'cp-g7h8')],
    ['pause', 'w001', 'p', { ...run('pause', 'cp-w001'), isAnswer: false }],
    ['resume', 'p1', 'p', { ...run('resume', 'cp-p1'), isAnswer: false }],
    ['why', 'w001', '\r', { kind: 'page', argv: ['why', 'cp-w001'], isFollowed: false }],
    ['logs', 'w001', 'l', { kind: 'page', argv: ['logs', 'cp-w001'], isFollowed: true }],
    ['attach', 'w001', 't', { kind: 'outside', argv: ['attach', 'cp-w001'], isAttach: true }],
    [
      'a command, with . for the task',
      'r1',
      ':edit . --title "A b"\r',
      { kind: 'page', argv: ['edit', 'cp-r1', '--title', 'A b'], isFollowed: false },
    ],
    [
      'a command that needs the terminal',
      'r1',
      ':copse work .\r',
      { kind: 'outside', argv: ['work', 'cp-r1'], isAttach: false },
    ],
    ['quit', 'r1', 'q', { kind: 'quit' }],
    ['Ctrl+C', 'r1', '\u0003', { kind: 'quit' }],
  ])('%s', (_, id, keys, effect) => {
    expect(typed(at(id), keys).effects).toEqual([effect]);
  });

  test('a permission asks for the question first, and answers exactly that one', () => {
    const [ask] = typed(at('c3d4'), 'a').effects;
    expect(ask).toMatchObject({ kind: 'ask', target: { task: 'cp-c3d4' } });
    if (ask?.kind !== 'ask') return;
    const asked: WatchState = {
      ...at('c3d4'),
      mode: { kind: 'permitting', target: ask.target, question: 'q-7', lines: ['npm install'] },
    };
    const verdict = (...more: readonly string[]) => [run('answer', 'cp-c3d4', ...more)];
    expect(typed(asked, 'y').effects).toEqual(verdict('allow', '--question', 'q-7'));
    expect(typed(asked, 'n').effects).toEqual(verdict('deny', '--question', 'q-7'));
    expect(typed(asked, 'Nuse npm ci\r').effects).toEqual(
      verdict('deny', '--question', 'q-7', '--message', 'use npm ci'),
    );
    expect(typed(asked, 'x').state.mode.kind).toBe('permitting');
    expect(typed(asked, '\u001b').effects).toEqual([]);
  });
});

describe('nothing happens', () => {
  test.each([
    ['a key that cannot act on the task', 'r1', 'A'],
    ['cancel without y', 'g7h8', 'cn'],
    ['an empty answer', 'a1b2', 'a\r'],
    ['an answer that is left', 'a1b2', 'ayes\u001b'],
    ['a pasted text is no keys', 'e5f6', '\u001b[200~A\u001b[201~'],
    ['an unknown key', 'r1', 'Z'],
    ['an open quote', 'r1', ':edit . --title "A\r'],
  ])('%s', (_, id, keys) => {
    const { state, effects } = typed(at(id), keys);
    expect(effects).toEqual([]);
    expect(state.mode.kind).toBe('list');
  });

  test('a key that can do nothing says why, and where the others are', () => {
    expect(typed(at('r1'), 'A').state.message).toEqual({
      kind: 'refused',
      lines: ['A does not apply to cp-r1: it is ready.', expect.stringContaining('Enter')],
    });
  });
});

describe('the selection', () => {
  const without = (id: string): Overview => {
    const overview = overviewOf(3);
    const keep = <T extends { readonly task: string }>(all: readonly T[]) =>
      all.filter(({ task }) => task !== `cp-${id}`);
    return { ...overview, needsYou: keep(overview.needsYou), working: keep(overview.working) };
  };

  test('is first on what needs a person, and arrows move it over all panels', () => {
    expect(begun.selected).toBe('cp-a1b2');
    expect(typed(begun, 'jjjj').state.selected).toBe('cp-w001');
    expect(typed(begun, '\u001b[F').state.selected).toBe('cp-p1');
    expect(typed(begun, '\u001b[F\u001b[H').state.selected).toBe('cp-a1b2');
    expect(typed(begun, '\u001b[F\t').state.selected).toBe('cp-a1b2');
    expect(typed(begun, '\t').state.selected).toBe('cp-c3d4');
  });

  test('stays on its task while others come and go', () => {
    expect(updated(at('e5f6'), { overview: without('a1b2'), paused: [] }, now).selected).toBe('cp-e5f6');
  });

  test('goes to the next when its task leaves, and the first key after that does not act', () => {
    const moved = updated(at('c3d4'), { overview: without('c3d4'), paused: [] }, now);
    expect(moved.selected).toBe('cp-e5f6');
    const { state, effects } = typed(moved, 'A', now + 100);
    expect(effects).toEqual([]);
    expect(state.message?.lines[0]).toContain('just moved to cp-e5f6');
    expect(typed(moved, 'A', now + 1_000).effects).toEqual([run('review', 'cp-e5f6', '--approve')]);
  });

  test('goes on to the next need after an answer', () => {
    expect(toNextNeed(at('a1b2')).selected).toBe('cp-c3d4');
    expect(toNextNeed(at('g7h8')).selected).toBe('cp-a1b2');
  });

  test('is within the filter', () => {
    const { state } = typed(begun, '/polit');
    expect(state.selected).toBe('cp-g7h8');
    expect(typed(state, '\r').state.filter).toBe('polit');
    expect(typed(state, '\r\u001b').state.filter).toBe('');
  });
});

test('a page that is followed stays at its end, unless the person scrolled up', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  const page: WatchState = { ...begun, mode: { kind: 'page', title: 'x', lines, top: 78, isFollowed: true } };
  const top = (state: WatchState) => (state.mode.kind === 'page' ? state.mode.top : -1);
  expect(top(pageUpdated(page, [...lines, 'new'], 24))).toBe(79);
  const up = typed(page, 'k').state;
  expect(top(pageUpdated(up, [...lines, 'new'], 24))).toBe(77);
  expect(typed(up, 'q').state.mode.kind).toBe('list');
});

test.each([
  [
    'a task without commits is not approved',
    { status: 'needs_attention', hasNothingToLand: true },
    ['s', 'c'],
    'A',
  ],
  ['an agent without a terminal is not attached to', { status: 'in_progress' }, ['p', 'c', 'l'], 't'],
  ['a stuck task is not paused', { status: 'stuck' }, ['a', 'r', 'c'], 'p'],
] as const)('%s', (_, facts, possible, impossible) => {
  const target = { task: brand<TaskId>('cp-x'), title: 'x', need: null, ...facts };
  const keys = possibleActions(target).map(({ key }) => key);
  expect(keys).toEqual(expect.arrayContaining([...possible]));
  expect(keys).not.toContain(impossible);
});

test('each key of the list can act on some task, and no two are the same', () => {
  const keys = actions.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  const statuses = ['ready', 'in_progress', 'stuck', 'in_review', 'paused'] as const;
  const possible = statuses.flatMap((status) =>
    possibleActions({ task: brand('cp-x'), title: 'x', status, need: null, hasTerminal: true }).map(
      ({ key }) => key,
    ),
  );
  expect(new Set(possible)).toEqual(new Set(keys));
});

test.each([
  ['edit . --title "A \\"b\\" c"', ['edit', '.', '--title', 'A "b" c']],
  ["add 'one two' three\\ four", ['add', 'one two', 'three four']],
  ['', []],
  ['add "open', null],
])('words of %s', (text, words) => {
  expect(splitWords(text)).toEqual(words);
});
