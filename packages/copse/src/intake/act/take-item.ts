/** An item becomes a task: the task and the item's record come in one transaction, and the item's key is unique there. */

import { type Change, type Context, type Outcome, change } from '../../board/context.ts';
import { decided, refused } from '../../kernel/decision.ts';
import type { AgentName } from '../../kernel/ids.ts';
import { blankDefinition, createTask } from '../../tasks/act/tasks.ts';
import type { TaskOrigin, TaskSummary } from '../../tasks/rules/task.ts';
import type { Source } from '../port.ts';
import { type Item, itemKey, textMark } from '../rules/item.ts';
import { textOf } from '../rules/reconcile.ts';
import type { SeenItem } from '../rules/source.ts';

export interface Taking {
  /** Who asked for it. */
  readonly by: string | null;
  /** A task that names the item already is the item's. */
  readonly adopts: boolean;
  /** Of a run that takes it. */
  readonly run?: { readonly agent: AgentName; readonly origin: TaskOrigin };
}

export async function takeItem(
  context: Context,
  source: Pick<Source, 'name'>,
  seen: SeenItem,
  taking: Taking,
): Promise<Outcome<TaskSummary>> {
  return change(context, (change) => takeItemIn(change, context, { source: source.name, seen, taking }));
}

/** In a transaction of the caller, which may record more with it: the firing of a schedule. */
export async function takeItemIn(
  change: Change,
  context: Context,
  {
    source: name,
    seen,
    taking: { by, adopts, run },
  }: { readonly source: string; readonly seen: SeenItem; readonly taking: Taking },
): Promise<TaskSummary> {
  const id = itemKey(name, seen.id);
  const before = await change.board.get('item', id);
  if (before !== undefined)
    change.refuse(
      refused('already_a_task', `${name}#${seen.id} is already ${before.task}.`, `copse show ${before.task}`),
    );
  const dependsOn = await resolved(change, name, seen.dependsOn);
  const { title, body } = textOf(seen);
  const workItem = { source: name, id: seen.id, url: seen.url };
  const definition = {
    ...blankDefinition(context.policy),
    title,
    body,
    workItem,
    agent: run?.agent ?? null,
    dependsOn: dependsOn.map(({ task }) => task),
  };
  const ofItem = {
    kind: 'item',
    source: name,
    item: seen.id,
    ...(seen.url !== null && { url: seen.url }),
    ...(by !== null && { by }),
  } as const;
  // A trigger or a person may have made a task of the item before it was seen here.
  const [named] = adopts ? await change.board.tasks({ workItem, order: 'urgent', limit: 1 }) : [];
  const task = named ?? (await createTask(change, context, definition, { origin: run?.origin ?? ofItem }));
  const { url, author } = seen;
  const what = { source: name, item: seen.id, url, title, mark: textMark(title, body), by, author };
  const linked = dependsOn.map(({ item }) => item);
  await change.apply(
    decided({ type: 'item.taken', id, at: change.at, ...what, dependsOn: linked, task: task.id }),
  );
  return task;
}

/** Those that have a task. */
export async function resolved(
  change: Change,
  source: string,
  ids: readonly string[],
): Promise<readonly Pick<Item, 'item' | 'task'>[]> {
  const found: Item[] = [];
  for (const id of ids) {
    const item = await change.board.get('item', itemKey(source, id));
    if (item !== undefined) found.push(item);
  }
  const statuses = await change.board.statuses(found.map(({ task }) => task));
  return found.filter(({ task }) => statuses.has(task));
}
