/**
 * What a look at a source changes. Pure: `sources sync --dry-run` prints the same steps that a sync takes.
 *
 *   new, open                        → take: one task
 *   text changed, task not begun     → give: the task gets the text, unless a person edited it or the author is not trusted
 *   text changed otherwise           → note: shown as "changed upstream"
 *   closed, or no longer there       → close; `on_closed: cancel` cancels the task
 *   other dependencies               → link, while the task has not begun
 */

import { type Decision, decided } from '../../kernel/decision.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { checkBody, checkTitle } from '../../kernel/text.ts';
import { decideEdit } from '../../tasks/rules/decisions.ts';
import type { TaskEvent } from '../../tasks/rules/events.ts';
import { type Task, type TaskStatus, isFinished } from '../../tasks/rules/task.ts';
import { type Item, type ItemEvent, textMark } from './item.ts';
import type { SeenItem, SourceSettings } from './source.ts';

export interface TaskNow {
  readonly status: TaskStatus;
  /** Of its title and body. */
  readonly mark: string;
}

export type ItemStep =
  | { readonly kind: 'take'; readonly seen: SeenItem }
  | { readonly kind: 'give'; readonly item: Item; readonly seen: SeenItem }
  | { readonly kind: 'note'; readonly item: Item; readonly seen: SeenItem; readonly why: string }
  | { readonly kind: 'close'; readonly item: Item; readonly cancels: boolean }
  | { readonly kind: 'reopen'; readonly item: Item }
  | { readonly kind: 'link'; readonly item: Item; readonly dependsOn: readonly string[] }
  | { readonly kind: 'leave'; readonly seen: SeenItem; readonly why: string };

export interface SyncFacts {
  readonly settings: Pick<SourceSettings, 'onClosed' | 'onlyFrom'>;
  readonly seen: readonly SeenItem[];
  readonly known: readonly Item[];
  readonly taskOf: (task: TaskId) => TaskNow | undefined;
  /** Ids of known items that could not be read: nothing is known of them now. */
  readonly unread?: ReadonlySet<string>;
}

export function planSync({ settings, seen, known, taskOf, unread }: SyncFacts): readonly ItemStep[] {
  const items = new Map(known.map((item) => [item.item, item]));
  const unique = new Map(seen.map((one) => [one.id, one]));
  const steps: ItemStep[] = [];
  for (const one of dependenciesFirst([...unique.values()])) {
    const item = items.get(one.id);
    if (item === undefined) {
      if (!one.isClosed) steps.push(takeStep(one));
      continue;
    }
    if (!isSamePlace(item.url, one.url)) {
      steps.push({ kind: 'leave', seen: one, why: whyElsewhere(item) });
      continue;
    }
    const task = taskOf(item.task);
    steps.push(...openStep(item, one), ...textStep(item, one, task, settings.onlyFrom));
    if (one.isClosed && !item.isClosed) steps.push(closeStep(item, task, settings.onClosed));
    else steps.push(...linkStep(item, one, { task, items, unique }));
  }
  for (const item of known)
    if (!unique.has(item.item) && !item.isClosed && unread?.has(item.item) !== true)
      steps.push(closeStep(item, taskOf(item.task), settings.onClosed));
  return steps;
}

/** The number of an issue is the same in another repository; its address is not. */
function isSamePlace(known: string | null, seen: string | null): boolean {
  if (known === null || seen === null) return true;
  const folder = (url: string) => url.slice(0, url.lastIndexOf('/')).toLowerCase();
  // The last part is the number, or at Linear words of the title.
  return folder(known) === folder(seen);
}

function whyElsewhere({ item, task, url }: Item): string {
  return `${item} is already ${task}, of another repository (${url}): give the source another name`;
}

function takeStep(seen: SeenItem): ItemStep {
  const { title, body } = textOf(seen);
  const check = [checkTitle(title), checkBody(body)].find(({ kind }) => kind === 'refused');
  if (check?.kind === 'refused') return { kind: 'leave', seen, why: check.reason };
  if (seen.id === '' || seen.id.length > LONGEST_ID)
    return { kind: 'leave', seen, why: `An id has 1 to ${LONGEST_ID} characters` };
  return { kind: 'take', seen };
}

const LONGEST_ID = 300;

function openStep(item: Item, seen: SeenItem): readonly ItemStep[] {
  return item.isClosed && !seen.isClosed ? [{ kind: 'reopen', item }] : [];
}

function closeStep(item: Item, task: TaskNow | undefined, onClosed: SourceSettings['onClosed']): ItemStep {
  const cancels = onClosed === 'cancel' && task !== undefined && !isFinished(task.status);
  return { kind: 'close', item, cancels };
}

function textStep(
  item: Item,
  seen: SeenItem,
  task: TaskNow | undefined,
  onlyFrom: readonly string[] | null,
): readonly ItemStep[] {
  const { title, body } = textOf(seen);
  if (item.mark === textMark(title, body)) return [];
  const why = whyNotGiven(item, seen, task, onlyFrom);
  return [why === null ? { kind: 'give', item, seen } : { kind: 'note', item, seen, why }];
}

function whyNotGiven(
  item: Item,
  seen: SeenItem,
  task: TaskNow | undefined,
  onlyFrom: readonly string[] | null,
): string | null {
  const { title, body } = textOf(seen);
  if (task === undefined) return 'its task was deleted';
  if (!isWaiting(task.status)) return 'its task has begun';
  if (task.mark !== item.given) return 'a person edited its task';
  if (onlyFrom !== null && !isAmong(onlyFrom, seen.author))
    return 'its author is not among only_from, and may change the text after the label was set';
  const check = [checkTitle(title), checkBody(body)].find(({ kind }) => kind === 'refused');
  return check?.kind === 'refused' ? check.reason : null;
}

/** Why an item does not become a task; null: it does. */
export function whyNotLetIn(
  onlyFrom: readonly string[] | null,
  seen: SeenItem,
  { by, at = null }: { readonly by: string | null; readonly at?: Timestamp | null },
): string | null {
  if (onlyFrom === null) return null;
  if (by === null) return 'it is unknown who asked for it, and only_from is set';
  if (!isAmong(onlyFrom, by)) return `${by} is not among only_from`;
  const { updatedAt, author } = seen;
  if (updatedAt === undefined || isAmong(onlyFrom, author)) return null;
  const isAsAsked = updatedAt !== null && at !== null && updatedAt <= at;
  return isAsAsked ? null : `it may have been edited after ${by} set the label: read it, then set it again`;
}

/** The task may get another text. */
export function isWaiting(status: TaskStatus | undefined): boolean {
  return status === 'pending' || status === 'ready';
}

export interface TextDecision {
  readonly edits: Decision<TaskEvent> | null;
  readonly noted: Decision<ItemEvent> | null;
  /** Why the task did not get the text. */
  readonly why: string | null;
}

/** With the records as they are in the transaction: an agent may have begun since the look. */
export function decideText(
  item: Item,
  task: Task | undefined,
  seen: SeenItem,
  onlyFrom: readonly string[] | null,
  at: Timestamp,
): TextDecision {
  const { title, body } = textOf(seen);
  const mark = textMark(title, body);
  if (item.mark === mark) return { edits: null, noted: null, why: null };
  const now = task && { status: task.state.status, mark: textMark(task.title, task.body) };
  const why = mark === item.given ? null : whyNotGiven(item, seen, now, onlyFrom);
  const isSame = mark === item.given || now?.mark === mark;
  const edits = why !== null || isSame || task === undefined ? null : decideEdit(task, { title, body }, at);
  const noted = decided({
    type: 'item.changed',
    id: item.id,
    at,
    title,
    mark,
    isGiven: why === null,
  } as const);
  return { edits, noted, why };
}

function isAmong(names: readonly string[], name: string | null): boolean {
  return name !== null && names.some((one) => one.toLowerCase() === name.toLowerCase());
}

interface LinkFacts {
  readonly task: TaskNow | undefined;
  readonly items: ReadonlyMap<string, Item>;
  readonly unique: ReadonlyMap<string, SeenItem>;
}

function linkStep(item: Item, seen: SeenItem, { task, items }: LinkFacts): readonly ItemStep[] {
  if (!isWaiting(task?.status)) return [];
  const dependsOn = seen.dependsOn.filter((id) => id !== item.item && items.has(id));
  const isSame = dependsOn.toSorted().join('\0') === item.dependsOn.toSorted().join('\0');
  return isSame ? [] : [{ kind: 'link', item, dependsOn }];
}

/** Items that others depend on come first, so that their tasks exist; of a circle, one dependency is dropped. */
function dependenciesFirst(seen: readonly SeenItem[]): readonly SeenItem[] {
  const byId = new Map(seen.map((one) => [one.id, one]));
  const ordered: SeenItem[] = [];
  const visited = new Set<string>();
  for (const first of seen) {
    const path: { readonly one: SeenItem; next: number }[] = [];
    const enter = (one: SeenItem | undefined) => {
      if (one === undefined || visited.has(one.id)) return;
      visited.add(one.id);
      path.push({ one, next: 0 });
    };
    enter(first);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const id = top.one.dependsOn[top.next];
      top.next += 1;
      if (id !== undefined) enter(byId.get(id));
      else {
        path.pop();
        ordered.push(top.one);
      }
    }
  }
  return ordered;
}

/** The title and body that a task gets: a title is one line of limited length. */
export function textOf({ title, body }: Pick<SeenItem, 'title' | 'body'>): {
  readonly title: string;
  readonly body: string;
} {
  const line = title
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  const longest = defaultPolicy.text.titleLength;
  const letters = Array.from(line);
  const isCut = letters.length > longest;
  const cut = isCut ? `${letters.slice(0, longest - 1).join('')}…` : line;
  return { title: cut, body: isCut ? `${line}\n\n${body}` : body };
}
