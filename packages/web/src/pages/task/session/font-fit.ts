/** The agent's terminal keeps its size: the letters become smaller until its columns fit, as far as they can be read. */

import type { Terminal } from '@xterm/xterm';

const LARGEST = 13;
const SMALLEST = 7;
/** Of a letter of a font in which all are equally wide, by its height. */
const WIDTH = 0.61;

export class FontFit {
  readonly #terminal: Terminal;
  readonly #place: HTMLElement;
  readonly #sizes: ResizeObserver;

  constructor(terminal: Terminal, place: HTMLElement) {
    this.#terminal = terminal;
    this.#place = place;
    this.#sizes = new ResizeObserver(() => this.fit());
    this.#sizes.observe(place);
    terminal.onResize(() => this.fit());
  }

  fit(): void {
    const fitting = Math.floor(this.#place.clientWidth / (this.#terminal.cols * WIDTH));
    const size = Math.min(LARGEST, Math.max(SMALLEST, fitting));
    if (this.#terminal.options.fontSize !== size) this.#terminal.options.fontSize = size;
  }

  stop(): void {
    this.#sizes.disconnect();
  }
}
