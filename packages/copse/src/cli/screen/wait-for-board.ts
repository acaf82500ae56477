/** For commands that run until they are stopped: they wait for a board that is away, and say so once, and once that it is back. */

import type { Patience } from '../../board/patient.ts';
import { age } from '../../explain/rules/amounts.ts';
import { timestamp } from '../../kernel/ids.ts';
import type { Cli } from '../invocation.ts';

export interface WaitsForBoard {
  readonly patience: Patience;
  /** Ends the command, and all waiting. */
  readonly stop: AbortController;
  /** Where the sentences go; standard error until then. */
  readonly tellBy: (tell: (text: string) => void) => void;
  /** Signals are not heard any more. */
  readonly end: () => void;
  readonly isAway: () => boolean;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/** Ends with Ctrl+C and SIGTERM, or with the given signals. */
export function waitForBoard({ output }: Cli, signals = SIGNALS): WaitsForBoard {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of signals) process.on(signal, onSignal);
  let isAway = false;
  let tell = (text: string): void => output.note(text);
  return {
    stop,
    patience: {
      signal: stop.signal,
      onAway: ({ message }) => {
        isAway = true;
        tell(`${message} Waiting for it; Ctrl+C stops.`);
      },
      onBack: (awayMs) => {
        isAway = false;
        tell(`The board is back after ${age(timestamp(0), timestamp(Math.round(awayMs)))}.`);
      },
    },
    isAway: () => isAway,
    tellBy: (other) => (tell = other),
    end: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
