/** Whether a request from outside is genuine. */

import type { TriggerDefinition, TriggerRequest } from '../rules/trigger.ts';

export interface Signatures {
  /** Undefined: it is not genuine. Takes as long for an unknown trigger (null) as for a wrong signature. */
  verify(trigger: TriggerDefinition | null, request: TriggerRequest): Promise<Genuine | undefined>;
}

export interface Genuine {
  /** What must be new for the request to count: the id of the delivery, and where that is not signed, the body too. */
  readonly once: readonly [string, ...string[]];
}
