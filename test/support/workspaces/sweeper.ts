/** A sweep of a project at a later time, without waiting for it. */

import { openLeftovers } from '../../../packages/copse/src/compose/leftovers.ts';
import { type Timestamp, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { type Policy, defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import type { SweepContext } from '../../../packages/copse/src/workspaces/sweep/context.ts';

export const DAY = 86_400_000;

export interface Later {
  readonly laterMs?: number;
  readonly maintenance?: Partial<Policy['maintenance']>;
  readonly set?: Partial<SweepContext>;
}

export function sweeperOf(
  project: { readonly folder: string; readonly context: WorkspaceContext },
  { laterMs = 40 * DAY, maintenance, set }: Later = {},
): SweepContext {
  return {
    ...project.context,
    clock: { now: (): Timestamp => timestamp(Date.now() + laterMs) },
    policy: { ...defaultPolicy, maintenance: { ...defaultPolicy.maintenance, ...maintenance } },
    leftovers: openLeftovers({ cwd: project.folder, env: process.env }),
    isOrchestrated: false,
    // Its time is a test's own.
    trashClock: undefined,
    cleanupOnFailure: () => false,
    ...set,
  };
}
