/**
 * Ticks the boxes of done items in the repository: one commit on top of the target for all of them, as a task of its own that
 * is finished when it is created. It lands through the queue like any other, so the target moves by compare-and-swap and a
 * person's uncommitted file makes the landing wait.
 *
 *   commit → branch → one transaction: the task, its landing or review, item.reported for each item
 */

import { decided, refused } from '../../kernel/decision.ts';
import { type TaskId, taskIdDraws } from '../../kernel/ids.ts';
import { counted, shown } from '../../kernel/text.ts';
import { change } from '../../board/context.ts';
import { freeBranch, recordBranch, submission } from '../../queue/act/finished-task.ts';
import type { RunContext } from '../../queue/context.ts';
import { blankDefinition } from '../../tasks/act/tasks.ts';
import { unusedId } from '../../tasks/act/unused-id.ts';
import { decideFinished } from '../../queue/rules/undo-landing.ts';
import { branchRef } from '../../workspaces/discard/rescue-first.ts';
import type { Source, SourceProblem, Ticked } from '../port.ts';
import type { Item } from '../rules/item.ts';
import { fileOfItem } from '../rules/markdown.ts';
import type { DueItem, Reported } from '../rules/report.ts';
import { itemsOf } from './sync.ts';

export async function tickDone(
  context: RunContext,
  source: Source,
  due: readonly DueItem[],
  onStep?: (step: string) => void,
): Promise<Reported | SourceProblem> {
  const items = due.map(({ item }) => item);
  if (items.length === 0 || source.tick === undefined || (await hasOpenTick(context, source)))
    return { kind: 'reported', items: [], notes: [], problem: null };
  const files = [...new Set(items.map(({ item }) => fileOfItem(item)))];
  const title = `Tick ${items.length === 1 ? 'a box' : counted(items.length, 'box', 'es')} in ${shown(files.join(', ').replaceAll(/\s+/g, ' '))}`;
  const drawn = await change(context, (change) => unusedId(change.board, taskIdDraws(context.random)));
  if (drawn.kind === 'refused') return { kind: 'failed', reason: drawn.refusal.reason, until: null };
  const id = drawn.value;
  const known = await itemsOf(context, source.name);
  const ticked = await source.tick({ items, known, message: messageOf(id, title, items) });
  if (ticked.kind === 'failed') return ticked;
  if (ticked.kind === 'unchanged') {
    await change(context, async (change) => {
      for (const item of items) await change.apply(told(item, change.at));
    });
    return { kind: 'reported', items, notes: [], problem: null };
  }
  onStep?.('committed');
  return submit(context, { source, id, title, items, ticked, onStep });
}

/** One after another: two that change neighbouring lines would conflict. */
async function hasOpenTick({ board }: RunContext, { name }: Source): Promise<boolean> {
  const open = await board.tasks({ finished: false, order: 'recent' });
  return open.some(
    ({ origin, workItem }) => workItem === null && origin?.kind === 'item' && origin.source === name,
  );
}

function originOf({ name }: Source) {
  return { kind: 'item', source: name, item: 'ticks' } as const;
}

interface Tick {
  readonly source: Source;
  readonly id: TaskId;
  readonly title: string;
  readonly items: readonly Item[];
  readonly ticked: Extract<Ticked, { kind: 'ticked' }>;
  readonly onStep?: ((step: string) => void) | undefined;
}

async function submit(
  context: RunContext,
  { source, id, title, items, ticked, onStep }: Tick,
): Promise<Reported | SourceProblem> {
  const { commit: head, onto, target } = ticked;
  const branch = await freeBranch(context, id, title, 'tick');
  // Before the board names the commit: git may prune commits without a ref.
  const moved = branch && (await context.git.moveRef(branchRef(branch), null, head, 'copse: ticks boxes'));
  if (branch === undefined || moved?.kind !== 'moved')
    return { kind: 'failed', reason: `There is no free branch name for ${id}.`, until: null };
  onStep?.('branched');
  const outcome = await change(context, async (change) => {
    for (const { id: one } of items)
      if ((await change.require('item', one)).report?.phase === 'done')
        change.refuse(refused('wrong_status', 'Another process ticks these boxes.', 'copse list'));
    const longest = context.policy.text.titleLength;
    const body = items.map(({ title: of, task }) => `- ${of} (${task})`).join('\n');
    const definition = { ...blankDefinition(context.policy), title: title.slice(0, longest), body };
    const to = submission(context, { branch, head, target });
    await change.apply(decideFinished({ id, definition, to, origin: originOf(source) }, change.at));
    await recordBranch(context, change, { task: id, branch, target, onto });
    for (const item of items) await change.apply(told(item, change.at));
  });
  if (outcome.kind === 'refused') {
    await context.git.moveRef(branchRef(branch), head, null, 'copse: not needed');
    return { kind: 'reported', items: [], notes: [], problem: null };
  }
  onStep?.('reported');
  return {
    kind: 'reported',
    items,
    notes: [`${id} ticks ${counted(items.length, 'box', 'es')}.`],
    problem: null,
  };
}

function told(item: Item, at: Item['takenAt']) {
  return decided({ type: 'item.reported', id: item.id, at, phase: 'done', comment: null } as const);
}

function messageOf(id: TaskId, title: string, items: readonly Item[]): string {
  const lines = items.map(({ title: of, task }) => `- ${of} (${task})`);
  return `${title}\n\n${lines.join('\n')}\n\nTask: ${id}\n`;
}
