/**
 * The terminal while `copse watch` or `copse list --watch` has it: raw keys, the alternate screen, its size. However watch ends, `leave` runs before
 * anything else is printed. It is safe to call twice.
 */

import type { ReadStream } from 'node:tty';

import { restoreTerminal } from '../../compose/on-demand.ts';
import type { Cli } from '../invocation.ts';
import { type PressedKey, KeyParser } from './keys.ts';
import type { ScreenSize } from './renderer.ts';
import { ENTER_SCREEN, LEAVE_SCREEN } from './sequences.ts';

/** A person cannot type a key of one byte after Escape so soon; a slow line brings the rest of a sequence within it. */
const ESCAPE_MS = 60;

export interface TerminalOptions {
  /** The settings to put back after another program had the terminal. */
  readonly saved: string | null;
  onKey(key: PressedKey): void;
  onResize(): void;
  /** The terminal is gone. */
  onGone(): void;
}

export class Terminal {
  readonly #cli: Cli;
  readonly #input: ReadStream;
  readonly #options: TerminalOptions;
  readonly #parser = new KeyParser();
  readonly #onResize = () => this.#options.onResize();
  #waiting: NodeJS.Timeout | undefined;
  #isEntered = false;
  #onAnyKey: (() => void) | undefined;

  constructor(cli: Cli, options: TerminalOptions) {
    this.#cli = cli;
    this.#options = options;
    this.#input = cli.stdin() as ReadStream;
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
    this.write(ENTER_SCREEN);
  }

  leave(): void {
    if (!this.#isEntered) return;
    this.write(LEAVE_SCREEN);
    this.#isEntered = false;
    process.off('SIGWINCH', this.#onResize);
    clearTimeout(this.#waiting);
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
    clearTimeout(this.#waiting);
    this.#tell(this.#parser.feed(bytes));
    if (this.#parser.isUnfinished)
      this.#waiting = setTimeout(() => this.#tell(this.#parser.flush()), ESCAPE_MS);
  }

  #tell(keys: readonly PressedKey[]): void {
    for (const key of keys) this.#options.onKey(key);
  }
}

/** Enough for the signal to arrive. */
const SUSPEND_MS = 100;

/** As Ctrl+Z does it everywhere. Without job control nothing stops, and the command goes on. */
export async function stopUntilContinued(): Promise<void> {
  process.kill(0, 'SIGTSTP');
  await new Promise((resolve) => setTimeout(resolve, SUSPEND_MS));
}
