/** What a person can do with a queued task: move it to the front, skip its checks, try it again. */

import { type Decision, type Refused, refused } from '../../kernel/decision.ts';
import type { Author } from '../../board/rules/event.ts';
import { type Landing, type LandingEvent, decideLanding, isCommitted } from './landing.ts';
import type { Timestamp } from '../../kernel/ids.ts';

/** To the front, and checked alone. */
export function decideHurry(landing: Landing, at: Timestamp): Decision<LandingEvent> {
  const { task, target, isHotfix } = landing;
  if (isHotfix)
    return refused(
      'wrong_status',
      `${task} is already at the front of the queue of ${target}.`,
      'copse queue',
    );
  return decideLanding(landing, { action: 'hurry' }, at);
}

/** Only a person may take responsibility for an unchecked landing. */
export function decideSkipChecks(landing: Landing, by: Author, at: Timestamp): Decision<LandingEvent> {
  if (by.kind !== 'person')
    return refused(
      'not_this_session',
      `Only a person may let ${landing.task} land without checks.`,
      `copse merge ${landing.task}`,
    );
  return decideLanding(landing, { action: 'skip_checks' }, at);
}

/** Drops the reason why it waits; the leader looks at it again at once. */
export function decideTryAgain(landing: Landing, at: Timestamp): Decision<LandingEvent> {
  return (
    refuseCommitted(landing) ??
    decideLanding(landing, { action: 'requeue', head: landing.head, reason: 'it is retried' }, at)
  );
}

function refuseCommitted(landing: Landing): Refused | undefined {
  if (!isCommitted(landing)) return undefined;
  const { task, target } = landing;
  return refused(
    'already_landing',
    `${task} is already landing: the move of ${target} is journalled and will be completed.`,
    `copse why ${task}`,
  );
}
