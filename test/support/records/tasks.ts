/** Shorthands for tests that need tasks on a board. */

import type { Outcome } from '../../../packages/copse/src/board/context.ts';
import type { DefinitionInput } from '../../../packages/copse/src/tasks/act/definition.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import type { Claimant } from '../../../packages/copse/src/tasks/rules/claim.ts';
import {
  type AgentName,
  type AttemptId,
  type NodeId,
  type SessionId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { Task } from '../../../packages/copse/src/tasks/rules/task.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { contextOf } from '../board/boards.ts';

export function must<T>(outcome: Outcome<T> | { kind: 'refused'; refusal: { reason: string } }): T {
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
  return outcome.value;
}

export async function newTask(
  board: Board,
  input: DefinitionInput,
  options: { readonly at?: number } = {},
): Promise<Task> {
  const context = contextOf(board);
  const { at } = options;
  const clock = at === undefined ? context.clock : { now: () => timestamp(at) };
  return must(await addTask({ ...context, clock }, input));
}

export function claimant(session: string): Claimant {
  return {
    session: brand<SessionId>(session),
    attempt: brand<AttemptId>(`at-of-${session}`),
    node: brand<NodeId>('no-1'),
    agent: brand<AgentName>('coder'),
  };
}
