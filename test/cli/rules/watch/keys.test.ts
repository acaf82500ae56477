import { describe, expect, test } from 'vitest';

import { type PressedKey, KeyParser } from '../../../../packages/copse/src/cli/screen/keys.ts';

/** Each character is itself, each named key is in brackets. */
function typed(keys: readonly PressedKey[]): string {
  return keys
    .map((key) => {
      if (key.kind === 'char') return key.char;
      if (key.kind === 'paste') return `<paste ${JSON.stringify(key.text)}>`;
      return key.kind === 'control' ? `<ctrl-${key.letter}>` : `<${key.kind}>`;
    })
    .join('');
}

function parsed(...chunks: readonly (string | Buffer)[]): string {
  const parser = new KeyParser();
  const keys = chunks.flatMap((chunk) => parser.feed(Buffer.from(chunk)));
  return typed([...keys, ...parser.flush()]);
}

describe('a key is recognised', () => {
  test.each([
    ['letters', 'aA?/:', 'aA?/:'],
    ['arrows', '\u001b[A\u001b[B\u001b[C\u001b[D', '<up><down><right><left>'],
    ['arrows of application mode', '\u001bOA\u001bOB', '<up><down>'],
    ['arrows with Shift', '\u001b[1;2A', '<up>'],
    ['PgUp and PgDn', '\u001b[5~\u001b[6~', '<page-up><page-down>'],
    ['Home and End of xterm', '\u001b[H\u001b[F', '<home><end>'],
    ['Home and End of tmux', '\u001b[1~\u001b[4~', '<home><end>'],
    ['Delete', '\u001b[3~', '<delete>'],
    ['Enter, as CR and LF', '\r\n', '<enter><enter>'],
    ['Backspace of both kinds', '\u007f\b', '<backspace><backspace>'],
    ['Ctrl and letters', '\u0003\u001a', '<ctrl-c><ctrl-z>'],
    ['letters beyond ASCII', 'ü林😀', 'ü林😀'],
    ['a letter with a combining mark as one', 'e\u0301x', 'e\u0301x'],
  ])('%s', (_, bytes, expected) => {
    expect(parsed(bytes)).toBe(expected);
  });

  test('a letter and its combining mark are one key', () => {
    expect(new KeyParser().feed(Buffer.from('e\u0301'))).toEqual([{ kind: 'char', char: 'e\u0301' }]);
  });

  test('unknown sequences, answers of the terminal and C1 controls are no keys', () => {
    expect(parsed('\u001b[?62;c\u001b[12;40R\u001b[I\u001b[15~\u009bx')).toBe('x');
  });
});

describe('bytes that come in pieces', () => {
  test('every split of a mixed input gives the same keys', () => {
    const bytes = Buffer.from('a\u001b[Aü\u001b[5~😀\u001b[200~one\ntwo\u001b[201~\r');
    const whole = typed(new KeyParser().feed(bytes));
    expect(whole).toBe('a<up>ü<page-up>😀<paste "one\\ntwo"><enter>');
    for (let at = 1; at < bytes.length; at += 1) {
      const parser = new KeyParser();
      const keys = [...parser.feed(bytes.subarray(0, at)), ...parser.feed(bytes.subarray(at))];
      expect({ at, keys: typed(keys) }).toEqual({ at, keys: whole });
    }
  });

  test('an Escape waits for more, and counts alone when nothing comes', () => {
    const parser = new KeyParser();
    expect(parser.feed(Buffer.from('\u001b'))).toEqual([]);
    expect(parser.isUnfinished).toBe(true);
    expect(parser.flush()).toEqual([{ kind: 'escape' }]);
    expect(parser.isUnfinished).toBe(false);
  });

  test('Escape and a letter are two keys, and so are two Escapes', () => {
    expect(parsed('\u001bq')).toBe('<escape>q');
    expect(parsed('\u001b\u001b')).toBe('<escape><escape>');
    expect(parsed('\u001b\u001b[A')).toBe('<escape><up>');
  });
});

describe('a paste', () => {
  test('is one key, and its text acts as no key', () => {
    expect(parsed('\u001b[200~q\u0003\u001b[A\u001b[201~x')).toBe(
      `<paste ${JSON.stringify('q\u0003\u001b[A')}>x`,
    );
  });

  test('without an end is cut, and keeps no more memory', () => {
    const parser = new KeyParser();
    parser.feed(Buffer.from('\u001b[200~'));
    for (let chunk = 0; chunk < 30; chunk += 1) parser.feed(Buffer.from('x'.repeat(10_000)));
    const [key] = parser.feed(Buffer.from('\u001b[201~'));
    expect(key).toEqual({ kind: 'paste', text: 'x'.repeat(100_000) });
  });
});
