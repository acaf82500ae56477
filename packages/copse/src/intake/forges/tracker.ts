/** What the issues of GitHub and of GitLab have in common; github.ts and gitlab.ts know the paths and the shapes. */

import type { LetIn, ReportDone, ReportOrder, Source, SourceProblem, SourceRead } from '../port.ts';
import type { Item } from '../rules/item.ts';
import type { ReportLabel } from '../rules/report.ts';
import type { SeenItem, SourceSettings } from '../rules/source.ts';
import type { ApiAnswered, ApiRefusal, Paced } from './paced.ts';

type ListedIssues =
  | { readonly kind: 'listed'; readonly all: readonly unknown[] }
  | ApiRefusal
  | SourceProblem;

export interface Tracker {
  /** For writes that need the hold of the source. */
  readonly paced: Pick<Paced, 'guarded'>;
  /** Whether the address is one of this repository; true if that cannot be told. */
  isHere(url: string | null): boolean;
  /** Open issues with the label. */
  open(): Promise<ListedIssues>;
  one(id: string): Promise<ApiAnswered | ApiRefusal | SourceProblem>;
  /** Undefined: not an issue. */
  read(issue: unknown): SeenItem | undefined;
  /** Issues that come first. `known` is what is known of it. */
  dependencies(
    issue: unknown,
    seen: SeenItem,
    known: Item | undefined,
  ): Promise<readonly string[] | SourceProblem>;
  /** Who set the label last. */
  letIn(id: string): Promise<LetIn | SourceProblem>;
  comments(id: string): Promise<ListedIssues>;
  /** The id and the text of a comment. */
  readComment(comment: unknown): { readonly id: string; readonly text: string } | undefined;
  addComment(id: string, text: string): Promise<ApiAnswered | ApiRefusal | SourceProblem>;
  editComment(id: string, comment: string, text: string): Promise<ApiAnswered | ApiRefusal | SourceProblem>;
  label(id: string, label: ReportLabel | null): Promise<ApiRefusal | SourceProblem | undefined>;
}

export function trackerSource(settings: SourceSettings, tracker: Tracker): Source {
  return {
    ...settings,
    read: (known) => readAll(tracker, known),
    async readOne(id) {
      const answer = await tracker.one(id);
      if (answer.kind === 'failed') return answer;
      if (answer.kind === 'refused') return { kind: 'read', item: undefined };
      return { kind: 'read', item: tracker.read(answer.body) };
    },
    letIn: ({ id }) => tracker.letIn(id),
    report: async (order) =>
      tracker.isHere(order.item.url)
        ? tracker.paced.guarded(order.isOurs, () => report(tracker, order))
        : { kind: 'refused', reason: `it is an item of another repository (${order.item.url})` },
  };
}

async function readAll(tracker: Tracker, known: readonly Item[]): Promise<SourceRead | SourceProblem> {
  const listed = await tracker.open();
  if (listed.kind !== 'listed') return problemOf(listed);
  const items: SeenItem[] = [];
  const byId = new Map(known.map((item) => [item.item, item]));
  for (const issue of listed.all) {
    const seen = tracker.read(issue);
    if (seen === undefined) continue;
    const dependsOn = await tracker.dependencies(issue, seen, byId.get(seen.id));
    if ('kind' in dependsOn) return dependsOn;
    items.push({ ...seen, dependsOn });
  }
  const ids = new Set(items.map(({ id }) => id));
  const unread: string[] = [];
  const notes: string[] = [];
  for (const item of known.filter((one) => !ids.has(one.item) && !one.isClosed)) {
    if (!tracker.isHere(item.url)) {
      unread.push(item.item);
      continue;
    }
    const answer = await tracker.one(item.item);
    if (answer.kind === 'failed' && answer.until !== null) return answer;
    if (answer.kind === 'answered') {
      const seen = tracker.read(answer.body);
      if (seen !== undefined) items.push({ ...seen, dependsOn: item.dependsOn });
    } else if (answer.kind === 'failed' || !GONE.has(answer.status)) {
      unread.push(item.item);
      notes.push(`${item.item}: ${answer.reason}`);
    }
  }
  return { kind: 'read', items, unread, notes };
}

/** Moved or deleted, by a server that has just listed the repository: it counts as closed. */
const GONE: ReadonlySet<number> = new Set([301, 404, 410]);

/** An address below a host may begin with a folder of the server. */
export function isAddressOf(
  url: string | null,
  place: { readonly owner: string; readonly name: string } | { readonly reason: string },
): boolean {
  if (url === null || 'reason' in place || !URL.canParse(url)) return true;
  return new URL(url).pathname.toLowerCase().includes(`/${place.owner}/${place.name}/`.toLowerCase());
}

function problemOf(problem: ApiRefusal | SourceProblem): SourceProblem {
  return problem.kind === 'failed' ? problem : { kind: 'failed', reason: problem.reason, until: null };
}

async function report(
  tracker: Tracker,
  { item, text, marker, label }: ReportOrder,
): Promise<ReportDone | SourceProblem> {
  let comment = item.report?.comment ?? null;
  if (text !== null) {
    const written = await writeComment(tracker, item, text, marker);
    if (written.kind !== 'written') return written;
    comment = written.comment;
  }
  if (label !== undefined) {
    const problem = await tracker.label(item.item, label);
    if (problem !== undefined) return problem;
  }
  return { kind: 'reported', comment };
}

type WrittenComment =
  | { readonly kind: 'written'; readonly comment: string | null }
  | ApiRefusal
  | SourceProblem;

/** The comment that is known, else the oldest with the marker, else a new one: an answer may have been lost. */
async function writeComment(
  tracker: Tracker,
  item: Item,
  text: string,
  marker: string,
): Promise<WrittenComment> {
  const known = item.report?.comment ?? null;
  if (known !== null) {
    const edited = await tracker.editComment(item.item, known, text);
    if (edited.kind === 'answered') return { kind: 'written', comment: known };
    // A person deleted it: it is written anew.
    if (edited.kind === 'failed' || edited.status !== 404) return edited;
  }
  const listed = await tracker.comments(item.item);
  if (listed.kind !== 'listed') return listed;
  const found = listed.all
    .map((comment) => tracker.readComment(comment))
    .find((comment) => comment !== undefined && comment.text.startsWith(marker) && comment.id !== known);
  const answer =
    found === undefined
      ? await tracker.addComment(item.item, text)
      : await tracker.editComment(item.item, found.id, text);
  if (answer.kind !== 'answered') return answer;
  return { kind: 'written', comment: found?.id ?? tracker.readComment(answer.body)?.id ?? null };
}
