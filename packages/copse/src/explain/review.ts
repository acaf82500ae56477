/** Finished work that waits for a person's review, in words. */

import { powerFileNames, powerFiles } from '../config/power-files.ts';
import { shown, shownPath } from '../kernel/text.ts';
import type { TaskReview } from '../review/act/review.ts';
import { summarise } from '../review/rules/pull-request.ts';
import { sizeText } from './changes.ts';
import { verdictWord } from './rules/queue.ts';
import { afterColon } from './rules/status.ts';

/** For the list, below the line of the task. */
export function reviewSummary(review: TaskReview): readonly string[] {
  const { agent, change, uncommitted, before } = review;
  const facts = [
    ...(agent === null ? [] : [shown(agent)]),
    change === null ? 'its commits are not in this repository' : sizeText(change.diff),
    ...known(review),
  ];
  return [
    facts.join(' · '),
    ...(uncommitted === 0 ? [] : [uncommittedText(uncommitted)]),
    ...[powerText(review)].filter((text) => text !== null),
    ...(before === null ? [] : [`left the queue: ${shown(afterColon(firstLine(before)))}`]),
  ];
}

function known({ accept, checks, change, target }: TaskReview): readonly string[] {
  return [
    ...(accept.commands > 0 && accept.isOfThis ? ['accept commands passed'] : []),
    ...checks.map(({ name, verdict }) => `${shown(name)} ${verdictWord(verdict)}`),
    ...(change === null || target === null ? [] : [mergeText(change.conflicts, target)]),
  ];
}

/** Names and values, in the order of `copse review`; null for what does not apply. */
export function reviewFields(review: TaskReview): readonly (readonly [name: string, value: string | null])[] {
  const { task, agent, isByHand, change, target, uncommitted, before, checks } = review;
  const pullRequest = task.state.status === 'in_review' ? task.state.pullRequest : null;
  return [
    ['agent', agent && `${shown(agent)}${isByHand ? ', by hand' : ''}`],
    ['commit', change && change.head.slice(0, 10)],
    ['target', target && (change ? mergeText(change.conflicts, target) : shown(target))],
    ['accept', acceptText(review)],
    [
      'checks',
      checks.map(({ name, verdict }) => `${shown(name)} ${verdictWord(verdict)}`).join(', ') || null,
    ],
    ['pull request', pullRequest && shown(summarise(pullRequest))],
    ['attention', uncommitted === 0 ? null : uncommittedText(uncommitted)],
    ['power', powerText(review)],
    ['left queue', before && shown(firstLine(before))],
  ];
}

/** Files that decide what Copse runs: once landed, a person accepts them. */
function powerText({ change }: TaskReview): string | null {
  const names = powerFileNames.filter((name) =>
    change?.diff.files.some(({ path, from }) => path === name || from === name),
  );
  if (names.length === 0) return null;
  const decides = names.map((name) => `${name} (${powerFiles[name]})`).join(', ');
  return `changes ${decides}; Copse uses that after it landed and you ran: copse config accept`;
}

/** Of a task in review. `hasAgent`: its agent can take it back. */
export function reviewCommands(
  { task: { id }, change }: TaskReview,
  { hasAgent }: { readonly hasAgent: boolean },
): readonly string[] {
  const back = hasAgent
    ? `copse review ${id} --send-back "…" # to send it back to its agent`
    : `copse work ${id} --resume # to continue yourself`;
  if (change === null) return [back];
  if (change.conflicts.length > 0)
    return [`copse sync ${id} --conflict # to resolve the conflict in its worktree`, back];
  return [`copse review ${id} --approve --head ${change.head.slice(0, 10)} # to approve this commit`, back];
}

function mergeText(conflicts: readonly string[], target: string): string {
  const [first, ...others] = conflicts;
  if (first === undefined) return `merges into ${shown(target)} without conflicts`;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `conflicts with ${shown(target)}: ${shownPath(first)}${more}`;
}

function uncommittedText(count: number): string {
  return `${count === 1 ? '1 uncommitted file' : `${count} uncommitted files`} would not land`;
}

function acceptText({ accept, change, task: { state } }: TaskReview): string | null {
  if (accept.commands === 0 || change === null) return null;
  const commands = accept.commands === 1 ? '1 command' : `${accept.commands} commands`;
  if (state.status === 'needs_attention' && state.because === 'accept')
    return `${commands}; when the agent stopped: ${shown(firstLine(state.reason))}`;
  return accept.isOfThis ? `${commands} passed` : `${commands}, not run for this commit`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
