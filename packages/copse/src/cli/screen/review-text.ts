/** How a review looks on a terminal, all but the patch. */

import { fileLines, sizeText } from '../../explain/changes.ts';
import { reviewFields } from '../../explain/review.ts';
import { age } from '../../explain/rules/amounts.ts';
import { taskForPerson } from '../../explain/rules/status.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import type { TaskReview } from '../../review/act/review.ts';
import type { Output } from '../output.ts';
import { fields, indented, taskLine } from './render.ts';

const MOST_ENTRIES = 10;

export function printReview(output: Output, review: TaskReview, now: Timestamp): void {
  const { task, change } = review;
  output.line(taskLine(taskForPerson(task), output, now));
  for (const row of fields(reviewFields(review))) output.line(`    ${row}`);
  if (task.body !== '') output.line(`\n${indented(shown(task.body), 4)}`);
  if (review.ledger.length > 0) output.line(`\n${output.style('bold', 'Ledger')}`);
  for (const { kind, text, at } of review.ledger.slice(-MOST_ENTRIES))
    output.line(`    ${kind} (${age(at, now)}) ${indented(shown(text), 8).trimStart()}`);
  if (change === null) return;
  output.line(`\n${output.style('bold', 'Changes')} ${sizeText(change.diff)}`);
  for (const line of fileLines(change.diff.files)) output.line(`    ${line}`);
}
