/**
 * Issues of a Linear team. Linear lets the writer choose the id of a comment, so Copse derives it from the task: after a lost
 * answer the same comment is found by its id, and needs no marker.
 */

import { createHash } from 'node:crypto';

import { defaultPolicy } from '../../kernel/policy.ts';
import { fieldsOf, messageOf, stringIn } from '../../review/forges/api.ts';
import { type ApiAnswered, type ApiRefusal, type Paced, failed } from '../forges/paced.ts';
import type { LetIn, ReportDone, ReportOrder, Source, SourceProblem, SourceRead } from '../port.ts';
import type { Item } from '../rules/item.ts';
import type { SeenItem, SourceSettings } from '../rules/source.ts';
import { timeIn } from '../forges/times.ts';
import { errorsOf } from './api.ts';

export interface LinearOptions {
  readonly settings: SourceSettings;
  readonly paced: Paced;
  /** Its key, as ENG. */
  readonly team: string;
  readonly label: string;
}

const ISSUE = `identifier title description url updatedAt creator { displayName } state { type }
  children { nodes { identifier } }
  inverseRelations { nodes { type issue { identifier } } }`;

const LIST = `query ($team: String!, $label: String!, $after: String) {
  issues(first: 50, after: $after, filter: {
    team: { key: { eq: $team } }, labels: { some: { name: { eq: $label } } },
    state: { type: { nin: ["completed", "canceled"] } }
  }) { nodes { ${ISSUE} } pageInfo { hasNextPage endCursor } }
}`;

const ONE = `query ($id: String!) { issue(id: $id) { ${ISSUE} } }`;

const HISTORY = `query ($id: String!) { issue(id: $id) {
  createdAt creator { displayName }
  history(first: 250) { nodes { createdAt actor { displayName } addedLabels { name } } }
} }`;

const EDIT = `mutation ($id: String!, $body: String!) {
  commentUpdate(id: $id, input: { body: $body }) { success comment { id } }
}`;

const ADD = `mutation ($id: String!, $issue: String!, $body: String!) {
  commentCreate(input: { id: $id, issueId: $issue, body: $body }) { success comment { id } }
}`;

export function linearSource(options: LinearOptions): Source {
  return {
    ...options.settings,
    read: (known) => readAll(options, known),
    async readOne(id) {
      const found = await ask(options, ONE, { id });
      if (found.kind === 'failed') return found;
      const item = found.kind === 'refused' ? undefined : readIssue(found.data['issue']);
      return { kind: 'read', item };
    },
    letIn: ({ id }) => letIn(options, id),
    report: (order) => options.paced.guarded(order.isOurs, () => report(options, order)),
  };
}

type Data = Readonly<Record<string, unknown>>;
type Asked = { readonly kind: 'data'; readonly data: Data } | ApiRefusal | SourceProblem;

async function ask({ paced }: LinearOptions, query: string, variables: Data): Promise<Asked> {
  return dataIn(await paced.query('graphql', { query, variables }));
}

async function write({ paced }: LinearOptions, query: string, variables: Data): Promise<Asked> {
  return dataIn(await paced.write('POST', 'graphql', { query, variables }));
}

/** Errors come with 200 or 400, and with no data. */
function dataIn(answer: ApiAnswered | ApiRefusal | SourceProblem): Asked {
  if (answer.kind === 'failed') return answer;
  const [error] = errorsOf(answer.body);
  // Only this error says that the issue is deleted, which then counts as closed.
  const status = /^entity not found/i.test(stringIn(error, 'message') ?? '') ? 404 : 400;
  if (answer.kind === 'refused') return { ...answer, status };
  if (error !== undefined)
    return {
      kind: 'refused',
      status,
      reason: `Linear: ${messageOf({ message: stringIn(error, 'message') })}.`,
    };
  return { kind: 'data', data: fieldsOf(fieldsOf(answer.body)['data']) };
}

function nodesIn(value: unknown): readonly unknown[] {
  const { nodes } = fieldsOf(value);
  return Array.isArray(nodes) ? (nodes as readonly unknown[]) : [];
}

async function readAll(options: LinearOptions, known: readonly Item[]): Promise<SourceRead | SourceProblem> {
  const { team, label } = options;
  const items: SeenItem[] = [];
  let after: string | undefined;
  for (let page = 0; ; page += 1) {
    const asked = await ask(options, LIST, { team, label, after: after ?? null });
    if (asked.kind !== 'data') return asked.kind === 'failed' ? asked : failed(asked.reason);
    const listed = fieldsOf(asked.data['issues']);
    items.push(...nodesIn(listed).flatMap((issue) => readIssue(issue) ?? []));
    if (fieldsOf(listed['pageInfo'])['hasNextPage'] !== true) break;
    after = stringIn(listed['pageInfo'], 'endCursor');
    if (page >= defaultPolicy.sources.mostPages)
      return failed('The list is too long: use a label with fewer items.');
  }
  const ids = new Set(items.map(({ id }) => id));
  const unread: string[] = [];
  const notes: string[] = [];
  for (const item of known.filter((one) => !ids.has(one.item) && !one.isClosed)) {
    const asked = await ask(options, ONE, { id: item.item });
    if (asked.kind === 'failed' && asked.until !== null) return asked;
    if (asked.kind === 'data') {
      const seen = readIssue(asked.data['issue']);
      if (seen !== undefined) items.push({ ...seen, id: item.item });
    } else if (asked.kind === 'failed' || asked.status !== 404) {
      unread.push(item.item);
      notes.push(`${item.item}: ${asked.reason}`);
    }
  }
  return { kind: 'read', items, unread, notes };
}

function readIssue(issue: unknown): SeenItem | undefined {
  const id = stringIn(issue, 'identifier');
  if (id === undefined) return undefined;
  const fields = fieldsOf(issue);
  const blocking = nodesIn(fields['inverseRelations'])
    .filter((relation) => stringIn(relation, 'type') === 'blocks')
    .map((relation) => fieldsOf(relation)['issue']);
  const first = [...nodesIn(fields['children']), ...blocking];
  const state = stringIn(fields['state'], 'type');
  return {
    id,
    title: stringIn(issue, 'title') ?? '',
    body: stringIn(issue, 'description') ?? '',
    url: stringIn(issue, 'url') ?? null,
    author: stringIn(fields['creator'], 'displayName') ?? null,
    isClosed: state === 'completed' || state === 'canceled',
    updatedAt: timeIn(issue, 'updatedAt'),
    dependsOn: [...new Set(first.flatMap((one) => stringIn(one, 'identifier') ?? []))],
  };
}

/** A label that was there from the beginning was set by the creator. */
async function letIn(options: LinearOptions, id: string): Promise<LetIn | SourceProblem> {
  const asked = await ask(options, HISTORY, { id });
  if (asked.kind !== 'data') return asked.kind === 'failed' ? asked : failed(asked.reason);
  const issue = fieldsOf(asked.data['issue']);
  const set = nodesIn(issue['history'])
    .filter((entry) => {
      const { addedLabels: added } = fieldsOf(entry);
      return Array.isArray(added) && added.some((label) => stringIn(label, 'name') === options.label);
    })
    .toSorted((one, other) =>
      (stringIn(one, 'createdAt') ?? '').localeCompare(stringIn(other, 'createdAt') ?? ''),
    )
    .at(-1);
  const who = set === undefined ? issue['creator'] : fieldsOf(set)['actor'];
  const at = timeIn(set ?? issue, 'createdAt');
  return { kind: 'known', by: stringIn(who, 'displayName') ?? null, at };
}

async function report(
  options: LinearOptions,
  { item, text, marker }: ReportOrder,
): Promise<ReportDone | SourceProblem> {
  if (text === null) return { kind: 'reported', comment: null };
  const id = commentId(marker);
  // Linear shows what HTML hides.
  const body = text.replace(marker, '').trim();
  const edited = await write(options, EDIT, { id, body });
  if (edited.kind === 'failed') return edited;
  if (edited.kind === 'data') return { kind: 'reported', comment: id };
  const added = await write(options, ADD, { id, issue: item.item, body });
  if (added.kind === 'data') return { kind: 'reported', comment: id };
  return added.kind === 'failed' ? added : { kind: 'refused', reason: added.reason };
}

/** In the form of a random UUID (version 4), the same for the same task. */
function commentId(marker: string): string {
  const hex = createHash('sha256').update(marker).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
