import { describe, expect, test } from 'vitest';

import { KeyParser } from '../../../../packages/copse/src/cli/screen/keys.ts';
import {
  type Edited,
  editLine,
  emptyLine,
  lineOf,
  textOf,
  visibleLine,
} from '../../../../packages/copse/src/cli/watch/line-editor.ts';

const LEFT = '\u001b[D';
const HOME = '\u001b[H';
const DELETE = '\u001b[3~';

function type(keys: string): Edited {
  const parser = new KeyParser();
  let edited: Edited = { kind: 'typing', line: emptyLine };
  for (const key of [...parser.feed(Buffer.from(keys)), ...parser.flush()])
    if (edited.kind === 'typing') edited = editLine(edited.line, key);
  return edited;
}

const entered = (keys: string): string => {
  const edited = type(`${keys}\r`);
  return edited.kind === 'entered' ? edited.text : edited.kind;
};

describe('a typed line', () => {
  test.each([
    ['text', 'one decimal', 'one decimal'],
    ['surrounding space is left out', '  yes ', 'yes'],
    ['Backspace takes a character as a person sees it', 'e\u0301😀\u007f\u007fx', 'x'],
    ['a character goes where the cursor is', `ac${LEFT}b`, 'abc'],
    ['Home and Delete', `xabc${HOME}${DELETE}`, 'abc'],
    ['Ctrl+A, Ctrl+K', 'abc\u0001\u000bx', 'x'],
    ['Ctrl+U keeps what is behind the cursor', `abc${LEFT}\u0015`, 'c'],
    ['Ctrl+W takes a word', 'keep both  \u0017one', 'keep one'],
    ['a paste of several lines is one line', '\u001b[200~a\r\nb\u001b[31m\u001b[201~', 'a b[31m'],
  ])('%s', (_, keys, expected) => {
    expect(entered(keys)).toBe(expected);
  });

  test('is left with Escape, Ctrl+C, and Backspace when empty', () => {
    for (const keys of ['abc\u001b', 'abc\u0003', 'a\u007f\u007f'])
      expect(type(keys)).toEqual({ kind: 'left' });
  });

  test('longer than its place shows the part around the cursor, and never more columns than there are', () => {
    const long = lineOf('0123456789林林abc');
    expect(visibleLine(long, 8)).toEqual({ text: '林林abc', column: 7 });
    for (let cursor = 0; cursor <= 15; cursor += 1) {
      const { text, column } = visibleLine({ ...long, cursor }, 8);
      expect(column).toBeLessThan(8);
      expect(textOf(long)).toContain(text);
    }
  });
});
