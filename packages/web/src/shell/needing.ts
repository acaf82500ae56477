/**
 * Which tasks need a person, from the records of this page: the number beside the inbox and the notifications, without a question
 * to the server for each event. The inbox asks git too, so it may leave one out that only just went on.
 */

import type { World } from '../../../copse/src/board/rules/event.ts';
import { waitsForPerson } from '../../../copse/src/explain/rules/overview.ts';
import { readWaitReason } from '../../../copse/src/queue/rules/wait-reason.ts';
import { type TaskSummary, isFinished, statusesForPeople } from '../../../copse/src/tasks/rules/task.ts';

type NeedingRecords = Pick<World, 'task' | 'session' | 'landing'>;

export function countNeeding({ task, session, landing }: NeedingRecords): number {
  let count = 0;
  for (const one of task.values()) if (needsPerson(one, task, session)) count += 1;
  const held = new Set<string>();
  for (const { target, waiting } of landing.values())
    if (waiting !== null && waitsForPerson(readWaitReason(waiting))) held.add(target);
  return count + held.size;
}

export function needsPerson(one: TaskSummary, tasks: World['task'], sessions: World['session']): boolean {
  const { state, dependsOn } = one;
  switch (state.status) {
    case 'pending':
      return dependsOn.some((id) => tasks.get(id)?.state.status === 'cancelled');
    case 'in_progress': {
      const session = sessions.get(state.claim.session);
      const hasAsked = session?.question != null && session.question.answer === null;
      return session?.state.life === 'live' && (hasAsked || session.state.attention !== null);
    }
    case 'in_review':
      return !(state.pullRequest?.is === 'wanted' && state.pullRequest.note === null);
    case 'needs_attention': {
      const resolver = state.resolver && tasks.get(state.resolver);
      return resolver === undefined || isFinished(resolver.state.status);
    }
    default:
      return statusesForPeople.includes(state.status);
  }
}
