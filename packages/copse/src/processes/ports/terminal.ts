/** A terminal of an agent, as a server shows it to people: its screen, then its output, in order. */

export interface TerminalScreen {
  readonly columns: number;
  readonly rows: number;
  /** Draws the screen on a terminal of this size that was just reset. */
  readonly drawing: Uint8Array;
}

/** Called in the order in which the terminal changed: what was put out before a screen is on it. */
export interface TerminalEvents {
  /** The answer to `look`. */
  onScreen(screen: TerminalScreen): void;
  onOutput(bytes: Uint8Array): void;
  /** Output was left out, because it came too fast. It is unknown how much. */
  onGap(): void;
  /** Its size changed. */
  onResize(): void;
  /** Once, after all others; with a reason for people. */
  onEnd(reason: string): void;
}

/** `unknown`: the terminal ended after some of it may have been typed. */
export type Typed = 'typed' | 'not_typed' | 'unknown';

export interface OpenTerminal {
  /** Asks for the present screen. */
  look(): void;
  /** Passes these bytes to the program in it, as if they were typed. */
  type(bytes: Uint8Array): Promise<Typed>;
  close(): void;
}

export interface Terminals {
  /** The one with this name, watched by one process however many people look. `onEnd` is told if there is none. */
  open(name: string, events: TerminalEvents): OpenTerminal;
}
