/** GitLab's REST API, as far as merge requests go. */

import type { GithubPlace } from './github.ts';
import type { Asked, Told } from './server.ts';
import type { Pull, Pulls } from './pulls.ts';

export function gitlab(pulls: Pulls, { owner, name, page }: GithubPlace, asked: Asked): Told {
  const { method, path, query, body } = asked;
  if (asked.headers['private-token'] !== asked.token)
    return { status: 401, body: { message: '401 Unauthorized' } };
  const [, id, rest = ''] = /^\/projects\/([^/]+)\/(.*)$/.exec(path) ?? [];
  if (id === undefined || decodeURIComponent(id) !== `${owner}/${name}`)
    return { status: 404, body: { message: '404 Project Not Found' } };
  if (rest === 'merge_requests' && method === 'GET') {
    const branch = query.get('source_branch');
    const found = pulls.all.filter((pull) => branch === null || pull.branch === branch).toReversed();
    return { status: 200, body: found.map((pull) => shape(pulls, pull, page)) };
  }
  if (rest === 'merge_requests' && method === 'POST') {
    const {
      source_branch: branch = '',
      target_branch: target = '',
      title = '',
      description = '',
    } = body as Record<string, string>;
    const there = pulls.openFor(branch);
    if (there !== undefined) {
      const message = [`Another open merge request already exists for this source branch: !${there.number}`];
      return { status: 409, body: { message } };
    }
    if (pulls.tip(branch) === undefined)
      return { status: 400, body: { message: { source_branch: ['does not exist'] } } };
    return { status: 201, body: shape(pulls, pulls.add({ title, body: description, branch, target }), page) };
  }
  const [, number, part] = /^merge_requests\/(\d+)(?:\/(approvals))?$/.exec(rest) ?? [];
  const pull = pulls.all.find((one) => one.number === Number(number));
  if (method !== 'GET' || pull === undefined) return { status: 404, body: { message: '404 Not found' } };
  if (part === 'approvals') {
    const approvals = pull.reviews.filter(({ state }) => state === 'APPROVED');
    return {
      status: 200,
      body: { approved_by: approvals.map(({ user }) => ({ user: { username: user } })) },
    };
  }
  return { status: 200, body: shape(pulls, pull, page) };
}

function shape(pulls: Pulls, pull: Pull, page: string) {
  const isSentBack = pull.reviews.some(({ state }) => state === 'CHANGES_REQUESTED');
  return {
    iid: pull.number,
    web_url: `${page}/-/merge_requests/${pull.number}`,
    state: pull.state === 'open' ? 'opened' : pull.state,
    title: pull.title,
    description: pull.body,
    source_branch: pull.branch,
    target_branch: pull.target,
    sha: pulls.headOf(pull),
    merge_commit_sha: pull.mergeCommit,
    squash_commit_sha: null,
    has_conflicts: false,
    detailed_merge_status: isSentBack ? 'requested_changes' : 'mergeable',
    closed_by: pull.closedBy === null ? null : { username: pull.closedBy },
  };
}
