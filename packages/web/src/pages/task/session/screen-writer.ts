/**
 * Draws what comes on a terminal, one thing after the other: a new screen must not overtake output that came before it, and a
 * terminal that is behind says so, so that nothing piles up in the page.
 */

import type { Terminal } from '@xterm/xterm';

import type { Screen } from './output-stream.ts';

type Drawn = Screen | Uint8Array;

interface Flow {
  readonly onBehind: () => void;
  readonly onCaughtUp: () => void;
}

const BEHIND_BYTES = 1_000_000;

export class ScreenWriter {
  readonly #terminal: Terminal;
  readonly #flow: Flow;
  #waiting: Drawn[] = [];
  #bytes = 0;
  #isBusy = false;
  #isBehind = false;

  constructor(terminal: Terminal, flow: Flow) {
    this.#terminal = terminal;
    this.#flow = flow;
  }

  draw(what: Drawn): void {
    // A screen replaces all that waits.
    if ('drawing' in what) this.#forget();
    this.#waiting.push(what);
    this.#bytes += bytesOf(what).length;
    if (this.#bytes > BEHIND_BYTES && !this.#isBehind) {
      this.#isBehind = true;
      this.#flow.onBehind();
    }
    if (!this.#isBusy) this.#next();
  }

  #next(): void {
    const what = this.#waiting.shift();
    this.#isBusy = what !== undefined;
    if (what === undefined) {
      if (this.#isBehind) this.#flow.onCaughtUp();
      this.#isBehind = false;
      return;
    }
    if ('drawing' in what) {
      this.#terminal.reset();
      this.#terminal.resize(what.columns, what.rows);
    }
    const bytes = bytesOf(what);
    this.#terminal.write(bytes, () => {
      this.#bytes -= bytes.length;
      this.#next();
    });
  }

  #forget(): void {
    for (const one of this.#waiting) this.#bytes -= bytesOf(one).length;
    this.#waiting = [];
  }
}

function bytesOf(what: Drawn): Uint8Array {
  return 'drawing' in what ? what.drawing : what;
}
