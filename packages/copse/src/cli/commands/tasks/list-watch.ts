/**
 * Shows lines on a screen of their own, and anew whenever the board changes, until Ctrl+C. The terminal is used as it is, without
 * raw mode, so that leaving takes one write: the other screen goes, the cursor returns, and what was there before is back.
 */

import { type Board, BoardAway } from '../../../board/port.ts';
import { fail } from '../../failure.ts';
import type { Cli } from '../../invocation.ts';
import { cut } from '../../screen/screen.ts';

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_REST_OF_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[0J';

/** Ages go on without an event. */
const REDRAW_MS = 5_000;

export async function watchLines(
  { output, env }: Cli,
  board: Board,
  look: () => Promise<readonly string[]>,
  options: { readonly json?: boolean },
): Promise<void> {
  if (options.json || !output.isTerminal || env['TERM'] === 'dumb')
    fail('invalid', '--watch needs a terminal.', 'copse events --follow --json');
  const stop = new AbortController();
  let wake: () => void = () => {};
  const { promise: stopped, resolve: onStop } = Promise.withResolvers<readonly string[]>();
  const onSignal = () => (stop.abort(), wake(), onStop([]));
  const onResize = () => wake();
  const leave = () => void output.raw(LEAVE);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('SIGWINCH', onResize);
  const subscription = await board.onChange(() => wake());
  // Also when drawing fails: the message belongs on the first screen.
  process.on('exit', leave);
  await output.raw(ENTER);
  let lines: readonly string[] = [];
  let away = '';
  try {
    while (!stop.signal.aborted) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      lines = await Promise.race([look(), stopped]).catch((error: unknown) => {
        if (!(error instanceof BoardAway)) throw error;
        return [...lines.filter((line) => line !== away), (away = `${error.message} Trying again.`)];
      });
      if (stop.signal.aborted) break;
      await output.raw(frame(lines, output.columns(), output.rows()));
      const timer = setTimeout(() => wake(), REDRAW_MS);
      await woken;
      clearTimeout(timer);
    }
  } finally {
    await output.raw(LEAVE);
    process.off('exit', leave);
    process.off('SIGWINCH', onResize);
    for (const signal of SIGNALS) process.off(signal, onSignal);
    await subscription.stop();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Written over the last one without clearing first, so that nothing flickers. */
function frame(lines: readonly string[], columns: number, rows: number): string {
  const all = lines.flatMap((line) => line.split('\n'));
  const more = all.length - (rows - 1);
  const fitting = more > 0 ? [...all.slice(0, rows - 2), `… and ${more + 1} more lines`] : all;
  const shown = fitting.map((line) => cut(line, columns) + CLEAR_REST_OF_LINE);
  return `${HOME}${shown.join('\r\n')}\r\n${CLEAR_BELOW}`;
}
