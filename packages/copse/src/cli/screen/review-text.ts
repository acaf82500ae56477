/** How what waits for a person's yes looks. */

import type { TaskReview } from '../../review/act/review.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { summarise } from '../../review/rules/pull-request.ts';
import { shown } from '../../kernel/text.ts';
import { fileLines, sizeText } from './diff-text.ts';
import type { Output } from '../output.ts';
import { age, fields, indented, taskLine } from './render.ts';

const LISTED = 3;

/** What the list says below the line of the task: who, how much, and what is known about it. */
export function reviewSummary(review: TaskReview): readonly string[] {
  const { agent, change, uncommitted, before } = review;
  const facts = [
    ...(agent === null ? [] : [shown(agent)]),
    change === null ? 'its commits are not here' : sizeText(change.diff),
    ...known(review),
  ];
  return [
    facts.join(' · '),
    ...(uncommitted === 0 ? [] : [uncommittedText(uncommitted)]),
    ...(before === null ? [] : [shown(firstLine(before))]),
  ];
}

function known({ accept, checks, change, target }: TaskReview): readonly string[] {
  return [
    ...(accept.commands > 0 && accept.isOfThis ? ['accepted'] : []),
    ...checks.map(({ name, verdict }) => `${shown(name)} ${verdict}`),
    ...(change === null || target === null ? [] : [mergeText(change.conflicts, target)]),
  ];
}

function mergeText(conflicts: readonly string[], target: string): string {
  const [first, ...others] = conflicts;
  if (first === undefined) return `fits ${shown(target)}`;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `conflicts with ${shown(target)}: ${shown(first)}${more}`;
}

function uncommittedText(count: number): string {
  return `${count === 1 ? '1 file is' : `${count} files are`} not committed and would not land`;
}

/** Everything but the patch. */
export function printReview(output: Output, review: TaskReview, now: Timestamp): void {
  const { task, change, target, uncommitted, before } = review;
  output.line(taskLine(task, output, now));
  const rows = fields([
    ['agent', review.agent && shown(review.agent)],
    ['commit', change && change.head.slice(0, 10)],
    ['target', target && (change ? mergeText(change.conflicts, target) : shown(target))],
    ['accept', acceptText(review)],
    ['checks', review.checks.map(({ name, verdict }) => `${shown(name)} ${verdict}`).join(', ') || null],
    ['pull request', task.state.status === 'in_review' ? pullRequestText(task.state.pullRequest) : null],
    ['attention', uncommitted === 0 ? null : uncommittedText(uncommitted)],
    ['before', before && shown(firstLine(before))],
  ]);
  for (const row of rows) output.line(`    ${row}`);
  if (task.body !== '') output.line(`\n${indented(shown(task.body), 4)}`);
  if (review.ledger.length > 0) output.line(`\n${output.style('bold', 'Ledger')}`);
  for (const { kind, text, at } of review.ledger.slice(-MOST_ENTRIES))
    output.line(`    ${kind} (${age(at, now)}) ${indented(shown(text), 8).trimStart()}`);
  if (change === null) return;
  output.line(`\n${output.style('bold', 'Changes')} ${sizeText(change.diff)}`);
  for (const line of fileLines(change.diff.files)) output.line(`    ${line}`);
}

const MOST_ENTRIES = 10;

function acceptText({ accept, change }: TaskReview): string | null {
  if (accept.commands === 0 || change === null) return null;
  const commands = accept.commands === 1 ? '1 command' : `${accept.commands} commands`;
  return accept.isOfThis ? `${commands} succeeded` : `${commands}, not run for this commit`;
}

function pullRequestText(pullRequest: Parameters<typeof summarise>[0] | null): string | null {
  return pullRequest && shown(summarise(pullRequest));
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** What can be done about it, as commands. */
export function nextSteps({ task, change }: TaskReview): readonly string[] {
  const approve =
    change === null ? [] : [`copse review ${task.id} --approve --head ${change.head.slice(0, 10)}`];
  return [...approve, `copse review ${task.id} --send-back "what is to change"`].slice(0, LISTED);
}
