/** What confines the processes of an agent: a program goes in, and the same program comes out, to be started in its place. */

import type { AttemptId } from '../../kernel/ids.ts';

/** What all programs have, whether they are talked to or not. */
export interface Confinable {
  readonly argv: readonly [string, ...string[]];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly attempt: AttemptId;
}

export interface Sandbox {
  /**
   * The program in the sandbox. Throws `NotConfined` when that is not possible: nothing is ever started without the
   * sandbox that was asked for.
   */
  wrap<P extends Confinable>(program: P, options?: { readonly hasTerminal: boolean }): P;
  /** When the attempt is over: what was put beside its branch for the sandbox goes. */
  close(): void;
}

/** The message is a sentence for a person. */
export class NotConfined extends Error {
  override readonly name = 'NotConfined';
}
