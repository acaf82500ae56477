/**
 * The terminal while `copse watch`, `list --watch` or `queue --watch` has it: raw keys, the alternate screen, its size. However
 * watch ends, `leave` runs before anything else is printed. It is safe to call twice.
 */

import type { ReadStream } from 'node:tty';

import { restoreTerminal } from '../../compose/on-demand.ts';
import type { Cli } from '../invocation.ts';
import { type PressedKey, KeyReader } from '../screen/keys.ts';
import type { ScreenSize } from './renderer.ts';
import { ENTER_LINES, ENTER_SCREEN, LEAVE_LINES, LEAVE_SCREEN } from './sequences.ts';

export interface TerminalOptions {
  /** The settings to put back after another program had the terminal. */
  readonly saved: string | null;
  /** Draws below what was printed before, and not on the alternate screen. */
  readonly isShared?: boolean;
  onKey(key: PressedKey): void;
  onResize(): void;
  /** The terminal is gone. */
  onGone(): void;
}

export class Terminal {
  readonly #cli: Cli;
  readonly #input: ReadStream;
  readonly #options: TerminalOptions;
  readonly #keys: KeyReader;
  readonly #onResize = () => this.#options.onResize();
  #isEntered = false;
  #onAnyKey: (() => void) | undefined;

  constructor(cli: Cli, options: TerminalOptions) {
    this.#cli = cli;
    this.#options = options;
    this.#input = cli.stdin() as ReadStream;
    this.#keys = new KeyReader((keys) => keys.forEach((key) => options.onKey(key)));
    this.#input.on('data', (bytes: Buffer) => this.#read(bytes));
    for (const event of ['end', 'error', 'close'])
      this.#input.on(event, () => {
        this.#onAnyKey?.();
        options.onGone();
      });
  }

  get size(): ScreenSize {
    const { output } = this.#cli;
    return { columns: Math.max(1, output.columns()), rows: Math.max(1, output.rows()) };
  }

  write(text: string): void {
    if (this.#isEntered && text !== '') void this.#cli.output.raw(text);
  }

  enter(): void {
    if (this.#isEntered) return;
    this.#isEntered = true;
    this.#input.setRawMode(true);
    this.#input.resume();
    process.on('SIGWINCH', this.#onResize);
    this.write(this.#options.isShared ? ENTER_LINES : ENTER_SCREEN);
  }

  leave(): void {
    if (!this.#isEntered) return;
    this.write(this.#options.isShared ? LEAVE_LINES : LEAVE_SCREEN);
    this.#isEntered = false;
    process.off('SIGWINCH', this.#onResize);
    this.#keys.stop();
    this.#input.pause();
    try {
      this.#input.setRawMode(false);
    } catch {
      // The terminal is gone, and its settings with it.
    }
  }

  /** Lets another program have the terminal. It may leave it in any state: a killed pager, for example. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    this.leave();
    try {
      return await work();
    } finally {
      await this.#restore();
      this.enter();
    }
  }

  /** While another program's last words are on the screen. */
  async anyKey(): Promise<void> {
    await this.#restore();
    this.#input.setRawMode(true);
    this.#input.resume();
    await new Promise<void>((resolve) => (this.#onAnyKey = resolve));
    this.#onAnyKey = undefined;
    this.#input.pause();
    this.#input.setRawMode(false);
  }

  async #restore(): Promise<void> {
    if (this.#options.saved !== null) await restoreTerminal(this.#options.saved);
  }

  #read(bytes: Buffer): void {
    if (this.#onAnyKey !== undefined) return this.#onAnyKey();
    this.#keys.take(bytes);
  }
}

/** Enough for the signal to arrive. */
const SUSPEND_MS = 100;

/** As Ctrl+Z does it everywhere. Without job control nothing stops, and the command goes on. */
export async function stopUntilContinued(): Promise<void> {
  process.kill(0, 'SIGTSTP');
  await new Promise((resolve) => setTimeout(resolve, SUSPEND_MS));
}
