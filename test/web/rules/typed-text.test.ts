import { expect, test } from 'vitest';

import { decideTyped, leavesTerminal } from '../../../packages/web/src/parts/typed-text.ts';

type Place = Parameters<typeof decideTyped>[1]['place'];

/** The keys that reach nothing. */
function stopped(keys: readonly (readonly [key: string, place: Place, atMs: number])[]): string {
  let typedAtMs: number | undefined;
  let text = '';
  for (const [key, place, atMs] of keys) {
    const decided = decideTyped(typedAtMs, { key, isLeaving: false, atMs, place });
    ({ typedAtMs } = decided);
    if (decided.isStopped) text += key;
  }
  return text;
}

test.each<[string, Parameters<typeof stopped>[0], string]>([
  ['a key of the page', [['r', 'page', 0]], ''],
  [
    'the rest of a field that is gone',
    [
      ['r', 'field', 0],
      ['a', 'page', 200],
      ['y', 'page', 400],
    ],
    'ay',
  ],
  [
    'the rest of a terminal',
    [
      ['g', 'terminal', 0],
      ['b', 'page', 200],
    ],
    'b',
  ],
  [
    'after a pause',
    [
      ['r', 'field', 0],
      ['a', 'page', 1_500],
    ],
    '',
  ],
  [
    'after the end of a text',
    [
      ['r', 'field', 0],
      ['Enter', 'field', 100],
      ['j', 'page', 200],
    ],
    '',
  ],
  [
    'the end of the rest',
    [
      ['r', 'field', 0],
      ['Enter', 'page', 100],
      ['j', 'page', 200],
    ],
    'Enter',
  ],
  [
    'leaving it',
    [
      ['r', 'field', 0],
      ['Escape', 'page', 100],
      ['j', 'page', 200],
    ],
    '',
  ],
  [
    'a field that a person chose',
    [
      ['r', 'field', 0],
      ['a', 'field', 100],
    ],
    '',
  ],
])('%s', (_, keys, expected) => {
  expect(stopped(keys)).toBe(expected);
});

type Modifier = 'Ctrl' | 'Alt' | 'Shift' | 'AltGraph';

test.each<[string, string, string, readonly Modifier[], boolean]>([
  ['Ctrl ]', ']', 'BracketRight', ['Ctrl'], true],
  ['Ctrl and the key in its place', '¨', 'BracketRight', ['Ctrl'], true],
  ['Ctrl Shift Escape', 'Escape', 'Escape', ['Ctrl', 'Shift'], true],
  ['] with AltGr', ']', 'Digit9', ['AltGraph'], false],
  ['] with AltGr that is reported as Ctrl Alt', ']', 'Digit9', ['Ctrl', 'Alt'], false],
  ['] with AltGr and Ctrl', ']', 'Digit9', ['Ctrl', 'AltGraph'], false],
  ['Escape', 'Escape', 'Escape', [], false],
  [']', ']', 'BracketRight', [], false],
])('%s leaves a terminal or is for its agent', (_, key, code, held, expected) => {
  const pressed = {
    key,
    code,
    ctrlKey: held.includes('Ctrl'),
    altKey: held.includes('Alt'),
    shiftKey: held.includes('Shift'),
    getModifierState: (name: string) => (held as readonly string[]).includes(name),
  };
  expect(leavesTerminal(pressed)).toBe(expected);
});
