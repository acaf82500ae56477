import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { type Frame, Renderer } from '../../../../packages/copse/src/cli/watch/renderer.ts';
import {
  ENTER_SCREEN,
  LEAVE_LINES,
  LEAVE_SCREEN,
} from '../../../../packages/copse/src/cli/watch/sequences.ts';
import { memoryScreen } from '../../../support/screen.ts';

const size = { columns: 20, rows: 5 };
const frame = (lines: readonly string[], cursor: Frame['cursor'] = null): Frame => ({ lines, cursor });

describe('a frame', () => {
  test('that is the same as the last writes nothing', () => {
    const renderer = new Renderer();
    expect(renderer.render(frame(['one', 'two']), size)).not.toBe('');
    expect(renderer.render(frame(['one', 'two']), size)).toBe('');
  });

  test('writes only the lines that changed, within one synchronized update', () => {
    const renderer = new Renderer();
    renderer.render(frame(['one', 'two', 'three']), size);
    const bytes = renderer.render(frame(['one', '2', 'three']), size);
    expect(bytes).not.toMatch(/one|three/);
    expect(bytes).toBe('\u001b[?2026h\u001b[?25l\u001b[2;1H2\u001b[0m\u001b[K\u001b[?2026l');
  });

  test('replaces a longer line and removes lines that are gone', async () => {
    const renderer = new Renderer();
    const screen = memoryScreen(20, 5);
    await screen.write(ENTER_SCREEN);
    for (const lines of [['a long first line', 'two', 'three'], ['short']])
      await screen.write(renderer.render(frame(lines), size));
    expect(screen.picture()).toEqual(['short']);
  });

  test('of random lines always looks as if it had been drawn whole', async () => {
    const renderer = new Renderer();
    const screen = memoryScreen(20, 5);
    await screen.write(ENTER_SCREEN);
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const words = [
      '',
      'ü',
      '林林林林林林林林林林',
      'x'.repeat(20),
      'x'.repeat(30),
      '\u001b[31mred\u001b[39m',
      'é',
    ];
    for (let turn = 0; turn < 30; turn += 1) {
      const lines = Array.from({ length: random(7) }, () => words[random(words.length)] ?? '');
      await screen.write(renderer.render(frame(lines), size));
      const whole = memoryScreen(20, 5);
      await whole.write(new Renderer().render(frame(lines), size));
      expect({ turn, lines, seen: screen.picture() }).toEqual({ turn, lines, seen: whole.picture() });
    }
  });

  test('keeps the last character of a line as wide as the screen', async () => {
    const screen = memoryScreen(20, 5);
    await screen.write(new Renderer().render(frame(['12345678901234567890', 'next']), size));
    expect(screen.picture()).toEqual(['12345678901234567890', 'next']);
  });

  test('cuts what is wider than the screen, and never scrolls it', async () => {
    const screen = memoryScreen(20, 5);
    const lines = ['林'.repeat(15), ...Array.from({ length: 9 }, (_, row) => `row ${row}`)];
    await screen.write(new Renderer().render(frame(lines), size));
    expect(screen.picture()).toEqual([`${'林'.repeat(9)}…`, 'row 0', 'row 1', 'row 2', 'row 3']);
  });

  test('after a change of the size is drawn whole', async () => {
    const renderer = new Renderer();
    const screen = memoryScreen(20, 5);
    await screen.write(renderer.render(frame(['one', 'two']), size));
    screen.resize(40, 8);
    await screen.write('garbage of the terminal');
    await screen.write(renderer.render(frame(['one', 'two']), { columns: 40, rows: 8 }));
    expect(screen.picture()).toEqual(['one', 'two']);
  });

  test('after another program had the screen is drawn whole', async () => {
    const renderer = new Renderer();
    const screen = memoryScreen(20, 5);
    await screen.write(renderer.render(frame(['one', 'two']), size));
    await screen.write('\u001b[2Jpager');
    renderer.forget();
    await screen.write(renderer.render(frame(['one', 'two']), size));
    expect(screen.picture()).toEqual(['one', 'two']);
  });

  test('shows the cursor where a person types, and nowhere else', async () => {
    const renderer = new Renderer();
    const screen = memoryScreen(20, 5);
    await screen.write(renderer.render(frame(['one', '/ab'], { row: 1, column: 3 }), size));
    expect({ visible: screen.isCursorVisible, at: screen.cursor }).toEqual({ visible: true, at: [1, 3] });
    await screen.write(renderer.render(frame(['one', '/ab'], { row: 1, column: 2 }), size));
    expect(screen.cursor).toEqual([1, 2]);
    await screen.write(renderer.render(frame(['one', '/ab']), size));
    expect(screen.isCursorVisible).toBe(false);
  });
});

test('leaving the screen shows what was there before, with the cursor', async () => {
  const screen = memoryScreen(20, 5);
  await screen.write('$ copse watch\r\n');
  await screen.write(ENTER_SCREEN + new Renderer().render(frame(['one', 'two']), size));
  expect({ alternate: screen.isAlternate, visible: screen.isCursorVisible }).toEqual({
    alternate: true,
    visible: false,
  });
  await screen.write(LEAVE_SCREEN);
  expect({ alternate: screen.isAlternate, visible: screen.isCursorVisible, seen: screen.picture() }).toEqual({
    alternate: false,
    visible: true,
    seen: ['$ copse watch'],
  });
});

test('the guard leaves the screen with the same sequences', () => {
  const script = readFileSync(
    new URL('../../../../packages/copse/src/cli/watch/guard.sh', import.meta.url),
    'utf8',
  );
  for (const leave of [LEAVE_SCREEN, LEAVE_LINES])
    expect(script).toContain(`printf '${leave.replaceAll('\u001b', '\\033')}'`);
});
