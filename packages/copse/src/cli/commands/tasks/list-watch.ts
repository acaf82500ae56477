/** Shows lines on a screen of their own, and anew whenever the board changes, until q or Ctrl+C. */

import { type Board, BoardAway } from '../../../board/port.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';
import { savedTerminal } from '../../watch/guard.ts';
import { isQuit, isSuspend } from '../../screen/keys.ts';
import { Renderer } from '../../watch/renderer.ts';
import { Terminal, stopUntilContinued } from '../../watch/terminal.ts';

/** Ages go on without an event. */
const REDRAW_MS = 5_000;

export async function watchLines(
  cli: Cli,
  board: Board,
  look: () => Promise<readonly string[]>,
  options: { readonly json?: boolean },
): Promise<void> {
  if (options.json || !cli.output.isTerminal || !cli.stdin().isTTY || cli.env['TERM'] === 'dumb')
    fail('invalid', '--watch needs a terminal.', 'copse events --follow --json');
  const stop = new AbortController();
  let wake: () => void = () => {};
  const { promise: stopped, resolve: onStop } = Promise.withResolvers<readonly string[]>();
  const quit = () => (stop.abort(), wake(), onStop([]));
  const renderer = new Renderer();
  const terminal = new Terminal(cli, {
    saved: savedTerminal(),
    onKey: (key) => (isQuit(key) ? quit() : isSuspend(key) && void suspend()),
    onResize: () => wake(),
    onGone: quit,
  });
  const suspend = async () => (await terminal.outside(stopUntilContinued), renderer.forget(), wake());
  const leave = () => terminal.leave();
  for (const signal of SIGNALS) process.on(signal, quit);
  process.on('exit', leave);
  const subscription = await board.onChange(() => wake());
  terminal.enter();
  let found: readonly string[] = [];
  let away = '';
  try {
    while (!stop.signal.aborted) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      found = await Promise.race([look(), stopped]).catch((error: unknown) => {
        if (!(error instanceof BoardAway)) throw error;
        return [...found.filter((line) => line !== away), (away = `${error.message} Trying again.`)];
      });
      if (stop.signal.aborted) break;
      const lines = fitting(found, terminal.size.rows);
      terminal.write(renderer.render({ lines, cursor: null }, terminal.size));
      const timer = setTimeout(() => wake(), REDRAW_MS);
      await woken;
      clearTimeout(timer);
    }
  } finally {
    // Also when drawing fails: the message belongs on the first screen.
    leave();
    process.off('exit', leave);
    for (const signal of SIGNALS) process.off(signal, quit);
    await subscription.stop();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function fitting(lines: readonly string[], rows: number): readonly string[] {
  const all = lines.flatMap((line) => line.split('\n'));
  const more = all.length - rows;
  return more > 0 ? [...all.slice(0, rows - 1), `… and ${more + 1} more lines`] : all;
}
