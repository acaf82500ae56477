/** What a runner has for its one attempt. */

import type { ContextFiles } from '../ports/context-files.ts';
import type { Reports } from '../ports/reports.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { EffectiveAgent } from '../../config/effective.ts';
import type { RunContext } from '../../queue/context.ts';
import type { CheckoutMemory } from '../../workspaces/discard/watch-checkout.ts';

export interface AttemptContext extends RunContext {
  readonly runtime: Runtime;
  readonly reports: Reports;
  readonly contextFiles: ContextFiles;
  readonly agent: EffectiveAgent;
  readonly checkoutMemory: CheckoutMemory;
  /** What every agent inherits. */
  readonly environment: Readonly<Record<string, string>>;
  /** The runner was told to go. */
  readonly stop: AbortSignal;
  /** A line for whoever reads the runner's log. */
  readonly log: (line: string) => void;
}
