/** Issues of a GitHub repository, by its REST API. */

import { fieldsOf, numberIn, stringIn } from '../../review/forges/api.ts';
import { reportLabels } from '../rules/report.ts';
import type { SeenItem } from '../rules/source.ts';
import { type Paced, failed } from './paced.ts';
import { timeIn } from './times.ts';
import { type Tracker, isAddressOf } from './tracker.ts';

export interface GithubOptions {
  readonly paced: Paced;
  /** The repository is looked up each time: a remote may change. */
  readonly repository: () => { readonly owner: string; readonly name: string } | { readonly reason: string };
  readonly label: string;
}

export function githubTracker({ paced, repository, label }: GithubOptions): Tracker {
  const at = (rest: string) => {
    const place = repository();
    if ('reason' in place) return place;
    return { path: `repos/${encodeURIComponent(place.owner)}/${encodeURIComponent(place.name)}/${rest}` };
  };
  const list = async (rest: string) => {
    const place = at(rest);
    return 'reason' in place ? failed(place.reason) : paced.list(place.path);
  };
  const write = async (method: 'POST' | 'PATCH' | 'DELETE', rest: string, body?: Record<string, unknown>) => {
    const place = at(rest);
    return 'reason' in place ? failed(place.reason) : paced.write(method, place.path, body);
  };
  const query = new URLSearchParams({ labels: label, state: 'open', per_page: '100', sort: 'created' });
  return {
    paced,
    isHere: (url) => isAddressOf(url, repository()),
    open: () => list(`issues?${query.toString()}&direction=asc`),
    async one(id) {
      const place = at(`issues/${encodeURIComponent(id)}`);
      return 'reason' in place ? failed(place.reason) : paced.get(place.path);
    },
    read: readIssue,
    async dependencies(issue) {
      const number = numberIn(issue, 'number') ?? 0;
      const found: string[] = [];
      for (const [summary, count, part] of FIRST) {
        if ((numberIn(fieldsOf(issue)[summary], count) ?? 0) === 0) continue;
        const listed = await list(`issues/${number}/${part}?per_page=100`);
        if (listed.kind === 'failed') return listed;
        if (listed.kind === 'listed') found.push(...listed.all.flatMap((one) => inSame(issue, one)));
      }
      return [...new Set(found)];
    },
    async letIn(id) {
      const listed = await list(`issues/${encodeURIComponent(id)}/events?per_page=100`);
      if (listed.kind !== 'listed')
        return failed(listed.reason, listed.kind === 'failed' ? listed.until : null);
      const set = listed.all.findLast(
        (event) =>
          stringIn(event, 'event') === 'labeled' &&
          stringIn(fieldsOf(event)['label'], 'name')?.toLowerCase() === label.toLowerCase(),
      );
      const by = stringIn(fieldsOf(set)['actor'], 'login') ?? null;
      return { kind: 'known', by, at: timeIn(set, 'created_at') };
    },
    comments: (id) => list(`issues/${encodeURIComponent(id)}/comments?per_page=100`),
    readComment(comment) {
      const id = numberIn(comment, 'id');
      return id === undefined ? undefined : { id: String(id), text: stringIn(comment, 'body') ?? '' };
    },
    addComment: (id, body) => write('POST', `issues/${encodeURIComponent(id)}/comments`, { body }),
    editComment: (_, comment, body) =>
      write('PATCH', `issues/comments/${encodeURIComponent(comment)}`, { body }),
    async label(id, wanted) {
      const place = `issues/${encodeURIComponent(id)}/labels`;
      const listed = await list(`${place}?per_page=100`);
      if (listed.kind !== 'listed') return listed;
      const names = new Set(listed.all.map((one) => stringIn(one, 'name')));
      for (const other of reportLabels.filter((one) => one !== wanted && names.has(one))) {
        const removed = await write('DELETE', `${place}/${encodeURIComponent(other)}`);
        if (removed.kind !== 'answered' && !(removed.kind === 'refused' && removed.status === 404))
          return removed;
      }
      if (wanted === null || names.has(wanted)) return undefined;
      const added = await write('POST', place, { labels: [wanted] });
      return added.kind === 'answered' ? undefined : added;
    },
  };
}

/** What an issue says about issues that come first, and where they are listed. */
const FIRST = [
  ['issue_dependencies_summary', 'blocked_by', 'dependencies/blocked_by'],
  ['sub_issues_summary', 'total', 'sub_issues'],
] as const;

function inSame(issue: unknown, other: unknown): readonly string[] {
  const number = numberIn(other, 'number');
  const isSame = stringIn(issue, 'repository_url') === stringIn(other, 'repository_url');
  return number !== undefined && isSame ? [String(number)] : [];
}

function readIssue(issue: unknown): SeenItem | undefined {
  const number = numberIn(issue, 'number');
  // Pull requests are listed as issues.
  if (number === undefined || fieldsOf(issue)['pull_request'] !== undefined) return undefined;
  return {
    id: String(number),
    title: stringIn(issue, 'title') ?? '',
    body: stringIn(issue, 'body') ?? '',
    url: stringIn(issue, 'html_url') ?? null,
    author: stringIn(fieldsOf(fieldsOf(issue)['user']), 'login') ?? null,
    isClosed: stringIn(issue, 'state') === 'closed',
    updatedAt: timeIn(issue, 'updated_at'),
    dependsOn: [],
  };
}
