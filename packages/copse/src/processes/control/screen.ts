/** A picture of a pane: what tmux says about it, and the bytes that draw it on an empty terminal. */

import type { TerminalScreen } from '../ports/terminal.ts';

/** Numbers only: nothing in it is text of the program. */
export const SCREEN_FORMAT = [
  'pane_width',
  'pane_height',
  'cursor_x',
  'cursor_y',
  'scroll_region_upper',
  'scroll_region_lower',
  'alternate_on',
  'cursor_flag',
  'insert_flag',
  'keypad_cursor_flag',
  'keypad_flag',
  'wrap_flag',
  'origin_flag',
  'mouse_standard_flag',
  'mouse_button_flag',
  'mouse_all_flag',
  'mouse_sgr_flag',
]
  .map((name) => `#{${name}}`)
  .join(' ');

export interface ScreenFacts {
  readonly columns: number;
  readonly rows: number;
  readonly cursor: readonly [column: number, row: number];
  readonly region: readonly [first: number, last: number];
  readonly isAlternate: boolean;
  /** Those that differ from a terminal that was just reset, as the sequences that set them. */
  readonly modes: string;
}

export function parseScreenFacts(line: string): ScreenFacts | undefined {
  const numbers = line.split(' ').map((word) => (/^\d{1,6}$/.test(word) ? Number(word) : undefined));
  const [columns = 0, rows = 0, x = 0, y = 0, first = 0, last = 0, alternate, ...flags] = numbers;
  if (columns < 1 || rows < 1) return undefined;
  const [cursor, insert, cursorKeys, keypad, wrap, origin, ...mouse] = flags;
  const mice = ['?1000h', '?1002h', '?1003h', '?1006h'];
  const modes = [
    cursor === 0 ? `${ESC}[?25l` : '',
    insert === 1 ? `${ESC}[4h` : '',
    cursorKeys === 1 ? `${ESC}[?1h` : '',
    keypad === 1 ? `${ESC}=` : '',
    wrap === 0 ? `${ESC}[?7l` : '',
    origin === 1 ? `${ESC}[?6h` : '',
    ...mice.map((mode, index) => (mouse[index] === 1 ? `${ESC}[${mode}` : '')),
  ].join('');
  return { columns, rows, cursor: [x, y], region: [first, last], isAlternate: alternate === 1, modes };
}

const ESC = '\u001b';

export function drawn(facts: ScreenFacts, lines: readonly Buffer[]): TerminalScreen {
  const { columns, rows, cursor, region, isAlternate, modes } = facts;
  const row = facts.modes.includes('[?6h') ? cursor[1] - region[0] : cursor[1];
  const parts = [
    `${isAlternate ? `${ESC}[?1049h` : ''}${ESC}[0m${ESC}[H${ESC}[2J`,
    ...lines.flatMap((line, index) => (index === 0 ? [line] : ['\r\n', line])),
    `${ESC}[0m${ESC}[${region[0] + 1};${region[1] + 1}r${modes}${ESC}[${row + 1};${cursor[0] + 1}H`,
  ];
  const drawing = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return { columns, rows, drawing };
}
