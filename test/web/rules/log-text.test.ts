/** The lines of a log as a page shows them. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { LogText } from '../../../packages/web/src/pages/task/session/log-text.ts';

function textOf(log: LogText): string {
  return log.blocks.map(({ text }) => text).join('\n');
}

function logOf(...pieces: readonly string[]): LogText {
  const log = new LogText();
  for (const piece of pieces) log.add(Buffer.from(piece));
  return log;
}

describe('the lines of a log', () => {
  test('are the same however the bytes were cut', () => {
    const line = fc
      .string({ unit: 'grapheme', maxLength: 8 })
      .filter((text) => !/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u.test(text));
    const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 300 }), cuts, (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const log = new LogText();
        let from = 0;
        for (const size of sizes) log.add(bytes.subarray(from, (from += size)));
        log.add(bytes.subarray(from));
        expect(textOf(log)).toBe(lines.join('\n'));
      }),
    );
  });

  test('show what a terminal would obey, and no line feed of another system', () => {
    expect(textOf(logOf('one\r\n\u001b[31mred\u202e\n'))).toBe(String.raw`one
\x1b[31mred\u202e`);
  });

  test('are cut when they are long, and the first are forgotten when they are many', () => {
    const long = logOf(...Array.from({ length: 16 }, () => 'x'.repeat(65_536)));
    expect(textOf(long)).toBe(`${'x'.repeat(4_000)} … (1044576 more characters)`);
    const many = logOf(Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join(''));
    expect(many.isCut).toBe(true);
    const lines = textOf(many).split('\n');
    expect(lines.at(-1)).toBe('line 19999');
    expect(lines.length).toBeGreaterThanOrEqual(5_000);
    expect(lines.length).toBeLessThan(5_200);
    expect(logOf('one\n').isCut).toBe(false);
  });

  test('keep their blocks while lines are added, and a gap ends a line', () => {
    const log = logOf('one\n'.repeat(250));
    const before = log.blocks;
    log.add(Buffer.from('half'));
    log.addGap('– left out –');
    log.add(Buffer.from('new\n'));
    expect(log.blocks.slice(0, 2)).toStrictEqual(before.slice(0, 2));
    expect(log.blocks[0]).toBe(before[0]);
    expect(log.blocks.slice(-2)).toMatchObject([
      { kind: 'gap', text: '– left out –' },
      { kind: 'lines', text: 'new' },
    ]);
    expect(log.blocks.at(-3)?.text).toMatch(/one\nhalf$/);
  });
});
