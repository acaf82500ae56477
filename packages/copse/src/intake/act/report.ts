/**
 * Tells sources what became of their items. What is due follows from the board alone: the phase of the task is not the phase
 * that was reported last. So no wish is lost, and one that is overtaken is not sent.
 *
 *   comment and labels at the source (found again by the marker) → item.reported
 *
 * After a kill in between, the next report finds the comment and edits it.
 */

import { decided } from '../../kernel/decision.ts';
import { change } from '../../board/context.ts';
import type { RunContext } from '../../queue/context.ts';
import type { Source, SourceProblem } from '../port.ts';
import type { Item } from '../rules/item.ts';
import {
  type DueItem,
  type Reported,
  dueReport,
  isTickDue,
  labelOf,
  reportMarker,
  reportText,
} from '../rules/report.ts';
import type { Hold } from './hold.ts';
import { isForAll, itemsOf } from './sync.ts';
import { tickDone } from './tick.ts';

/** What the source is not told yet. Empty for a source that is told nothing. */
export async function dueReports(context: RunContext, source: Source): Promise<readonly DueItem[]> {
  const isTold = source.report !== undefined && (source.hasComments || source.hasLabels);
  if (!isTold && source.tick === undefined) return [];
  const items = await itemsOf(context, source.name);
  const statuses = await context.board.statuses(items.map(({ task }) => task));
  return items.flatMap((item) => {
    const phase = dueReport(item, statuses.get(item.task));
    const isDue = phase !== null && (isTold || isTickDue(item, phase));
    return isDue ? [{ item, phase }] : [];
  });
}

export async function reportDue(
  context: RunContext,
  source: Source,
  hold: Hold,
  onStep?: (step: string) => void,
): Promise<Reported | SourceProblem> {
  const due = await dueReports(context, source);
  if (source.tick !== undefined) return tickDone(context, source, due, onStep);
  const told: Item[] = [];
  const notes: string[] = [];
  let problem: SourceProblem | null = null;
  let failures = 0;
  for (const { item, phase } of due) {
    if (!(await hold.isOurs())) break;
    const task = await context.board.get('task', item.task);
    const done = await source.report?.({
      item,
      text: source.hasComments ? reportText(task, item.task, phase) : null,
      marker: reportMarker(item.task),
      label: source.hasLabels ? labelOf(phase) : undefined,
      isOurs: () => hold.isOurs(),
    });
    if (done === undefined) break;
    if (done.kind === 'failed') {
      // Another item may be told.
      problem = { ...done, reason: `${source.name}#${item.item}: ${done.reason}` };
      failures += 1;
      if (isForAll(done, failures)) break;
      continue;
    }
    failures = 0;
    onStep?.('told');
    if (done.kind === 'refused') notes.push(`${source.name}#${item.item}: ${done.reason}`);
    // What is refused is not tried again before the task's next phase.
    const comment = done.kind === 'refused' ? (item.report?.comment ?? null) : done.comment;
    await change(context, async (change) => {
      await change.require('item', item.id);
      await change.apply(decided({ type: 'item.reported', id: item.id, at: change.at, phase, comment }));
    });
    onStep?.('reported');
    if (done.kind === 'reported') told.push(item);
  }
  return { kind: 'reported', items: told, notes, problem };
}
