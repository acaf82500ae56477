/** The context of a runner's attempt. */

import type { ContextFiles, Reports, SessionCommands } from '../ports/runners.ts';
import type { Asks, Runtime } from '../ports/runtime.ts';
import type { EffectiveAgent } from '../../config/effective.ts';
import type { RunContext } from '../../queue/context.ts';
import type { CheckoutMemory } from '../../workspaces/discard/watch-checkout.ts';

export interface AttemptContext extends RunContext {
  readonly runtime: Runtime;
  readonly reports: Reports;
  /** The channel of the commands that the agent asks its runner to run. */
  readonly asked: Asks;
  readonly sessionCommands: SessionCommands;
  readonly contextFiles: ContextFiles;
  readonly agent: EffectiveAgent;
  readonly checkoutMemory: CheckoutMemory;
  /** Inherited by every agent. */
  readonly environment: Readonly<Record<string, string>>;
  /** Aborts when the runner is told to stop. */
  readonly stop: AbortSignal;
  /** Called when the board was away for too long: nothing waits for it any more. */
  readonly onCutOff: () => void;
  /** Writes a line to the runner's log. */
  readonly log: (line: string) => void;
}
