import { age } from '../../../explain/rules/amounts.ts';
import { limitedUntil } from '../../../intake/rules/limit.ts';
import type { SourceMemory } from '../../../intake/port.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import type { SyncedStep } from '../../../intake/act/sync.ts';

/** When it was looked at, what went wrong, and what the rate limit leaves. */
export function lastLookText({ syncedAt, problem, limit }: SourceMemory, now: Timestamp): string {
  const looked = syncedAt === null ? 'not looked at yet' : `looked at ${age(syncedAt, now)} ago`;
  const until = limitedUntil(limit, now);
  const waits = until !== null ? `rate limit: no request for ${age(now, until)} more` : null;
  const left = waits === null && limit?.remaining != null ? `${limit.remaining} requests left` : null;
  const parts = [looked, problem === null ? null : shown(problem), waits, left];
  return parts.filter((part) => part !== null).join('; ');
}

/** One line for a step of a sync. */
export function stepText(source: string, { step, task, why }: SyncedStep, isTrial: boolean): string {
  const would = isTrial ? 'would ' : '';
  const seen = 'seen' in step ? step.seen : step.item;
  const id = 'seen' in step ? step.seen.id : step.item.item;
  const item = shown(`${source}#${id}`);
  const title = shown(seen.title);
  const because = why === null ? '' : `: ${shown(why)}`;
  switch (step.kind) {
    case 'take':
      if (why !== null) return `left      ${item} ${title}${because}`;
      return isTrial ? `would add ${item} ${title}` : `added     ${task} for ${item}: ${title}`;
    case 'leave':
      return `left      ${item}${because}`;
    case 'give':
      return why === null
        ? `${would}update ${task}: ${item} changed`
        : `changed   ${item} upstream; ${task} keeps its text${because}`;
    case 'note':
      return `changed   ${item} upstream; ${task} keeps its text: ${shown(why ?? step.why)}`;
    case 'close':
      return step.cancels
        ? `${would}cancel ${task}: ${item} was closed${because}`
        : `closed    ${item}; ${task} stays`;
    case 'reopen':
      return `reopened  ${item}; see ${task}`;
    case 'link':
      return `${would}link ${task}: waits for ${step.dependsOn.join(', ') || 'no item'}${because}`;
    default:
      throw new Error(`A step cannot be ${String(step satisfies never)}`);
  }
}
