/** The output of one session, from which every page that shows it reads at its own speed. */

import type { Typed } from '../../processes/ports/terminal.ts';

/** `stream` names a series of offsets: the same offset of another stream is another byte. */
export interface OutputPosition {
  readonly stream: string | null;
  readonly at: number;
}

/** Bytes that are left out. `to` is null when the stream of `from` has ended, so that their number is unknown. */
export interface OutputGap {
  readonly from: number;
  readonly to: number | null;
}

export type OutputNews =
  /** Replaces all that was shown before. */
  | {
      readonly kind: 'screen';
      readonly stream: string;
      readonly at: number;
      readonly columns: number;
      readonly rows: number;
      readonly drawing: Uint8Array;
      /** Output that the page did not get, and that is on this screen instead. */
      readonly gap: OutputGap | null;
    }
  | ({ readonly kind: 'gap'; readonly next: OutputPosition } & OutputGap)
  | { readonly kind: 'output'; readonly at: number; readonly bytes: Buffer }
  /** Nothing more will come. */
  | { readonly kind: 'ended'; readonly reason: string }
  /** The signal has aborted. */
  | { readonly kind: 'stopped' };

export interface OutputSource {
  /** Where a page begins that had all before `position`; without one, a new page. */
  begin(position: OutputPosition | undefined): OutputPosition;
  /** What comes after the position, as soon as there is something. */
  read(position: OutputPosition, signal: AbortSignal): Promise<OutputNews>;
  /** False: it takes no input, or has ended. */
  type(bytes: Uint8Array): Promise<Typed>;
  close(): void;
}

/** Readers that wait for something new. */
export class WaitingReaders {
  readonly #waiting = new Set<() => void>();

  wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }

  untilWoken(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}
