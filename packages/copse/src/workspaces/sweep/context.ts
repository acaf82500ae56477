/** What a sweep gets besides a workspace context. */

import type { AgentName } from '../../kernel/ids.ts';
import type { TaskLeftovers } from '../ports/leftovers.ts';
import type { WorkspaceContext } from '../act/context.ts';

export interface SweepContext extends WorkspaceContext {
  readonly leftovers: TaskLeftovers;
  /** `workspace.cleanup_on_failure` of an agent; null: it is not known which agent failed. */
  readonly cleanupOnFailure: (agent: AgentName | null) => boolean;
  /** An orchestrator of this machine runs: it recovers tasks whose lease expired. */
  readonly isOrchestrated: boolean;
}
