/** A terminal in memory, to see bytes as a person would: @xterm/headless. */

import headless from '@xterm/headless';

export interface MemoryScreen {
  write(text: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** What is on the screen, without spaces at the end of lines and empty lines at the end. */
  picture(): readonly string[];
  readonly isAlternate: boolean;
  readonly isCursorVisible: boolean;
  /** Row and column of the cursor, from 0. */
  readonly cursor: readonly [row: number, column: number];
}

export function memoryScreen(columns: number, rows: number): MemoryScreen {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
  let isCursorVisible = true;
  for (const [final, isShown] of [
    ['h', true],
    ['l', false],
  ] as const)
    terminal.parser.registerCsiHandler({ prefix: '?', final }, (params) => {
      if (params.includes(25)) isCursorVisible = isShown;
      return false;
    });
  return {
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    resize: (width, height) => terminal.resize(width, height),
    picture() {
      const { active } = terminal.buffer;
      const lines = Array.from({ length: terminal.rows }, (_, row) =>
        (active.getLine(active.viewportY + row)?.translateToString(true) ?? '').trimEnd(),
      );
      while (lines.at(-1) === '') lines.pop();
      return lines;
    },
    get isAlternate() {
      return terminal.buffer.active.type === 'alternate';
    },
    get isCursorVisible() {
      return isCursorVisible;
    },
    get cursor() {
      const { active } = terminal.buffer;
      return [active.cursorY, active.cursorX] as const;
    },
  };
}
