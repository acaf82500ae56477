/**
 * Merge requests on GitLab. With a token by its API; without one by push options, which need nothing but the right to push: the
 * answer to the push then names the merge request, and later its ref does, `refs/merge-requests/<number>/head`.
 */

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import type { Review } from '../rules/pull-request.ts';
import type { BranchPushed, ForgeRemote, Looked, PullRequestFacts, PullRequestOrder } from '../port.ts';
import type { RemotePlace } from './address.ts';
import { type Answer, type Api, fieldsOf, numberIn, problemIn, stringIn } from './api.ts';
import { type Hosted, strange } from './github.ts';
import { hintIn, pushPlainly } from './plain.ts';

export async function openOnGitlab(hosted: Hosted, order: PullRequestOrder): Promise<Looked> {
  const there = await findOnGitlab(hosted, order);
  if (there !== undefined) return there;
  const { api, now } = hosted;
  const { title, body, branch, target } = order;
  const answer = await api.ask({
    method: 'POST',
    path: `${project(hosted.place)}/merge_requests`,
    body: { source_branch: branch, target_branch: target, title, description: body },
  });
  const problem = problemIn(api, answer, now());
  if (problem === undefined) return read(api, answer.answered ? answer.body : null);
  // Somebody else was faster.
  const other = answer.answered && answer.status === 409 ? await findOnGitlab(hosted, order) : undefined;
  return other ?? { found: false, ...problem };
}

async function findOnGitlab(hosted: Hosted, { branch, head }: PullRequestOrder): Promise<Looked | undefined> {
  const { api, place, now } = hosted;
  const asked = new URLSearchParams({
    source_branch: branch,
    state: 'all',
    order_by: 'created_at',
    sort: 'desc',
    per_page: '100',
  });
  const path = `${project(place)}/merge_requests?${asked.toString()}`;
  const answer = await api.ask({ method: 'GET', path });
  const problem = problemIn(api, answer, now());
  if (problem !== undefined) return { found: false, ...problem };
  const all = answer.answered && Array.isArray(answer.body) ? (answer.body as readonly unknown[]) : [];
  const own = all.filter((one) => stringIn(one, 'source_branch') === branch);
  const found =
    own.find((one) => stringIn(one, 'state') === 'opened') ??
    own.find((one) => stringIn(one, 'sha') === head);
  return found === undefined ? undefined : read(api, found);
}

export async function lookOnGitlab(hosted: Hosted, number: number): Promise<Looked> {
  const { api, place, now } = hosted;
  const path = `${project(place)}/merge_requests/${number}`;
  const answer = await api.ask({ method: 'GET', path });
  const problem = problemIn(api, answer, now());
  if (problem !== undefined) return { found: false, ...problem };
  const looked = read(api, answer.answered ? answer.body : null);
  if (!looked.found || looked.facts.state !== 'open' || looked.facts.review !== 'none') return looked;
  // Not every GitLab has approvals.
  const approvals = await api.ask({ method: 'GET', path: `${path}/approvals` });
  return { found: true, facts: { ...looked.facts, review: approvalIn(approvals) } };
}

function approvalIn(answer: Answer): Review {
  const by = answer.answered && answer.status === 200 ? fieldsOf(answer.body)['approved_by'] : undefined;
  return Array.isArray(by) && by.length > 0 ? 'approved' : 'none';
}

function project({ owner, name }: RemotePlace): string {
  return `projects/${encodeURIComponent(`${owner}/${name}`)}`;
}

function read(api: Api, body: unknown): Looked {
  const number = numberIn(body, 'iid');
  const url = stringIn(body, 'web_url');
  const sha = stringIn(body, 'sha');
  const target = stringIn(body, 'target_branch');
  if (number === undefined || url === undefined || sha === undefined || target === undefined)
    return { found: false, ...strange(api) };
  const seen = { url, number, head: brand<CommitId>(sha), target: brand<BranchName>(target) };
  return { found: true, facts: stateOf(body, seen) };
}

function stateOf(
  body: unknown,
  seen: Pick<PullRequestFacts, 'url' | 'number' | 'head' | 'target'>,
): PullRequestFacts {
  const state = stringIn(body, 'state');
  if (state === 'merged') {
    // A fast-forward made no commit of its own.
    const commit = stringIn(body, 'merge_commit_sha') ?? stringIn(body, 'squash_commit_sha') ?? seen.head;
    return { ...seen, state: 'merged', commit: brand(commit) };
  }
  if (state === 'closed')
    return { ...seen, state: 'closed', by: stringIn(fieldsOf(body)['closed_by'], 'username') ?? null };
  const isSentBack = stringIn(body, 'detailed_merge_status') === 'requested_changes';
  const review = isSentBack ? 'changes_requested' : 'none';
  return { ...seen, state: 'open', review, hasConflict: fieldsOf(body)['has_conflicts'] === true };
}

/** Opens one as well. A remote that knows no such options gets the branch alone. */
export async function pushToGitlab(remote: ForgeRemote, order: PullRequestOrder): Promise<BranchPushed> {
  const { branch, head, target, title, body } = order;
  const summary = body.split('\n').find((line) => line.trim() !== '') ?? '';
  const options = [
    'merge_request.create',
    `merge_request.target=${target}`,
    `merge_request.title=${title}`,
    ...(summary === '' ? [] : [`merge_request.description=${summary}`]),
  ];
  const pushed = await remote.push(branch, head, options);
  if (pushed.pushed) return { pushed: true, hint: hintIn(pushed.said) };
  return /does not support push options/.test(pushed.reason) ? pushPlainly(remote, order) : pushed;
}

/** Without a token: what the answer to the push said, or the ref that the merge request has. */
export async function findPushed(
  remote: ForgeRemote,
  place: RemotePlace,
  { branch, head, target }: PullRequestOrder,
  hint: string | null,
): Promise<Looked> {
  const open = { head, target, state: 'open', review: 'none', hasConflict: false } as const;
  const [, named] = /\/merge_requests\/(\d+)$/.exec(hint ?? '') ?? [];
  if (named !== undefined && hint !== null)
    return { found: true, facts: { ...open, url: hint, number: Number(named) } };
  const page = `https://${place.host ?? 'gitlab.com'}/${place.owner}/${place.name}/-/merge_requests`;
  for (const [ref, tip] of await remote.refs('refs/merge-requests/*/head')) {
    const [, number] = /^refs\/merge-requests\/(\d+)\/head$/.exec(ref) ?? [];
    if (number !== undefined && tip === head)
      return { found: true, facts: { ...open, url: `${page}/${number}`, number: Number(number) } };
  }
  const query = new URLSearchParams({ 'merge_request[source_branch]': branch });
  const reason = `There is no merge request for ${branch} yet, and without GITLAB_TOKEN Copse cannot open one for a branch that was pushed before.`;
  return { found: false, because: 'unknown', hint: `${page}/new?${query.toString()}`, reason };
}
