/** Every operation. This loads their descriptions only. */

import { agentOperations } from './agents/group.ts';
import { intakeOperations } from './intake/group.ts';
import { boardOperations } from './board/group.ts';
import type { Fitting, Operation } from './operation.ts';
import { nodeOperations } from './nodes/group.ts';
import { overviewOperations } from './overview/group.ts';
import { planOperations } from './plans/group.ts';
import { setupOperations } from './setup/group.ts';
import { queueOperations } from './queue/group.ts';
import { reviewOperations } from './review/group.ts';
import { taskOperations } from './tasks/group.ts';
import { worktreeOperations } from './worktrees/group.ts';

const registeredOperations = [
  ...inGroup(overviewOperations),
  ...inGroup(taskOperations),
  ...inGroup(planOperations),
  ...inGroup(agentOperations),
  ...inGroup(intakeOperations),
  ...inGroup(setupOperations),
  ...inGroup(worktreeOperations),
  ...inGroup(nodeOperations),
  ...inGroup(boardOperations),
  ...inGroup(queueOperations),
  ...inGroup(reviewOperations),
];

type Group = Readonly<Record<string, Operation>>;

function inGroup<T extends Group>(
  group: T & { readonly [K in keyof T]: Fitting<T[K]> },
): readonly T[keyof T][] {
  return Object.values(group as unknown as Readonly<Record<string, T[keyof T]>>);
}

export const operations: readonly Operation[] = registeredOperations;

/** The union of all of them, each with its name and its shapes, for types that derive from it. */
export type RegisteredOperation = (typeof registeredOperations)[number];
