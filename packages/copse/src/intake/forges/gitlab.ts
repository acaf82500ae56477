/** Issues of a GitLab project, by its REST API. */

import { fieldsOf, numberIn, stringIn } from '../../review/forges/api.ts';
import { reportLabels } from '../rules/report.ts';
import type { SeenItem } from '../rules/source.ts';
import { type Paced, failed } from './paced.ts';
import { timeIn } from './times.ts';
import { type Tracker, isAddressOf } from './tracker.ts';

export interface GitlabOptions {
  readonly paced: Paced;
  readonly project: () => { readonly owner: string; readonly name: string } | { readonly reason: string };
  readonly label: string;
}

export function gitlabTracker({ paced, project, label }: GitlabOptions): Tracker {
  const at = (rest: string) => {
    const place = project();
    if ('reason' in place) return place;
    return { path: `projects/${encodeURIComponent(`${place.owner}/${place.name}`)}/${rest}` };
  };
  const list = async (rest: string) => {
    const place = at(rest);
    return 'reason' in place ? failed(place.reason) : paced.list(place.path);
  };
  const write = async (method: 'POST' | 'PUT', rest: string, body: Record<string, unknown>) => {
    const place = at(rest);
    return 'reason' in place ? failed(place.reason) : paced.write(method, place.path, body);
  };
  const issue = (id: string) => `issues/${encodeURIComponent(id)}`;
  const query = new URLSearchParams({
    labels: label,
    state: 'opened',
    per_page: '100',
    order_by: 'created_at',
    sort: 'asc',
  });
  return {
    paced,
    isHere: (url) => isAddressOf(url, project()),
    open: () => list(`issues?${query.toString()}`),
    async one(id) {
      const place = at(issue(id));
      return 'reason' in place ? failed(place.reason) : paced.get(place.path);
    },
    read: readIssue,
    async dependencies(one, { id }, known) {
      // Each list is a request, so it is asked for once.
      if (known !== undefined) return known.dependsOn;
      const listed = await list(`${issue(id)}/links`);
      if (listed.kind === 'failed') return listed;
      if (listed.kind === 'refused') return [];
      return listed.all.flatMap((other) => firstOf(one, other));
    },
    async letIn(id) {
      const listed = await list(`${issue(id)}/resource_label_events?per_page=100`);
      if (listed.kind !== 'listed')
        return failed(listed.reason, listed.kind === 'failed' ? listed.until : null);
      const set = listed.all.findLast(
        (event) =>
          stringIn(event, 'action') === 'add' && stringIn(fieldsOf(event)['label'], 'name') === label,
      );
      const by = stringIn(fieldsOf(set)['user'], 'username') ?? null;
      return { kind: 'known', by, at: timeIn(set, 'created_at') };
    },
    comments: (id) => list(`${issue(id)}/notes?per_page=100&sort=asc&order_by=created_at`),
    readComment(note) {
      const id = numberIn(note, 'id');
      return id === undefined ? undefined : { id: String(id), text: stringIn(note, 'body') ?? '' };
    },
    addComment: (id, body) => write('POST', `${issue(id)}/notes`, { body }),
    editComment: (id, note, body) => write('PUT', `${issue(id)}/notes/${encodeURIComponent(note)}`, { body }),
    async label(id, wanted) {
      const others = reportLabels.filter((one) => one !== wanted).join(',');
      const body = { remove_labels: others, ...(wanted !== null && { add_labels: wanted }) };
      const set = await write('PUT', issue(id), body);
      return set.kind === 'answered' ? undefined : set;
    },
  };
}

/** Only issues of the same project. */
function firstOf(one: unknown, other: unknown): readonly string[] {
  const iid = numberIn(other, 'iid');
  const isSame = numberIn(one, 'project_id') === numberIn(other, 'project_id');
  return iid !== undefined && isSame && stringIn(other, 'link_type') === 'is_blocked_by' ? [String(iid)] : [];
}

function readIssue(issue: unknown): SeenItem | undefined {
  const iid = numberIn(issue, 'iid');
  if (iid === undefined) return undefined;
  return {
    id: String(iid),
    title: stringIn(issue, 'title') ?? '',
    body: stringIn(issue, 'description') ?? '',
    url: stringIn(issue, 'web_url') ?? null,
    author: stringIn(fieldsOf(issue)['author'], 'username') ?? null,
    isClosed: stringIn(issue, 'state') === 'closed',
    updatedAt: timeIn(issue, 'updated_at'),
    dependsOn: [],
  };
}
