/**
 * Merge requests on GitLab: by its API with a token, otherwise by push options, which need only the right to push. Then the
 * answer to the push names the merge request, and later its ref `refs/merge-requests/<number>/head`.
 */

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import type { ReviewVerdict } from '../rules/pull-request.ts';
import type {
  BranchPushed,
  ForgeRemote,
  PullRequestLook,
  PullRequestFacts,
  PullRequestOrder,
} from '../port.ts';
import type { RemotePlace } from './address.ts';
import { type ApiAnswer, type Api, fieldsOf, numberIn, problemIn, stringIn } from './api.ts';
import { type Hosted, unexpected } from './github.ts';
import { hintIn, pushPlainly } from './plain.ts';

export async function openOnGitlab(hosted: Hosted, order: PullRequestOrder): Promise<PullRequestLook> {
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
  if (problem === undefined) return read(api, answer.kind === 'answered' ? answer.body : null);
  // Another orchestrator or a person opened it meanwhile.
  const other =
    answer.kind === 'answered' && answer.status === 409 ? await findOnGitlab(hosted, order) : undefined;
  return other ?? { kind: 'failed', ...problem };
}

async function findOnGitlab(
  hosted: Hosted,
  { branch, head }: PullRequestOrder,
): Promise<PullRequestLook | undefined> {
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
  if (problem !== undefined) return { kind: 'failed', ...problem };
  const all =
    answer.kind === 'answered' && Array.isArray(answer.body) ? (answer.body as readonly unknown[]) : [];
  const own = all.filter((one) => stringIn(one, 'source_branch') === branch);
  const found =
    own.find((one) => stringIn(one, 'state') === 'opened') ??
    own.find((one) => stringIn(one, 'sha') === head);
  return found === undefined ? undefined : read(api, found);
}

export async function lookOnGitlab(hosted: Hosted, number: number): Promise<PullRequestLook> {
  const { api, place, now } = hosted;
  const path = `${project(place)}/merge_requests/${number}`;
  const answer = await api.ask({ method: 'GET', path });
  const problem = problemIn(api, answer, now());
  if (problem !== undefined) return { kind: 'failed', ...problem };
  const looked = read(api, answer.kind === 'answered' ? answer.body : null);
  if (looked.kind !== 'found' || looked.facts.state !== 'open' || looked.facts.review !== 'none')
    return looked;
  // Some GitLab editions have no approvals.
  const approvals = await api.ask({ method: 'GET', path: `${path}/approvals` });
  return { kind: 'found', facts: { ...looked.facts, review: approvalIn(approvals) } };
}

function approvalIn(answer: ApiAnswer): ReviewVerdict {
  const by =
    answer.kind === 'answered' && answer.status === 200 ? fieldsOf(answer.body)['approved_by'] : undefined;
  return Array.isArray(by) && by.length > 0 ? 'approved' : 'none';
}

function project({ owner, name }: RemotePlace): string {
  return `projects/${encodeURIComponent(`${owner}/${name}`)}`;
}

function read(api: Api, body: unknown): PullRequestLook {
  const number = numberIn(body, 'iid');
  const url = stringIn(body, 'web_url');
  const sha = stringIn(body, 'sha');
  const target = stringIn(body, 'target_branch');
  if (number === undefined || url === undefined || sha === undefined || target === undefined)
    return { kind: 'failed', ...unexpected(api) };
  const seen = { url, number, head: brand<CommitId>(sha), target: brand<BranchName>(target) };
  return { kind: 'found', facts: stateOf(body, seen) };
}

function stateOf(
  body: unknown,
  seen: Pick<PullRequestFacts, 'url' | 'number' | 'head' | 'target'>,
): PullRequestFacts {
  const state = stringIn(body, 'state');
  if (state === 'merged') {
    // A fast-forward has no merge commit.
    const commit = stringIn(body, 'merge_commit_sha') ?? stringIn(body, 'squash_commit_sha') ?? seen.head;
    return { ...seen, state: 'merged', commit: brand(commit) };
  }
  if (state === 'closed')
    return { ...seen, state: 'closed', by: stringIn(fieldsOf(body)['closed_by'], 'username') ?? null };
  const isSentBack = stringIn(body, 'detailed_merge_status') === 'requested_changes';
  const review = isSentBack ? 'changes_requested' : 'none';
  return { ...seen, state: 'open', review, hasConflict: fieldsOf(body)['has_conflicts'] === true };
}

/** Also opens a merge request. A remote without push options gets only the branch. */
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
  if (pushed.kind === 'pushed') return { kind: 'pushed', hint: hintIn(pushed.said) };
  return /does not support push options/.test(pushed.reason) ? pushPlainly(remote, order) : pushed;
}

/** Without a token: from the answer to the push, or from the merge request's ref. */
export async function findPushed(
  remote: ForgeRemote,
  place: RemotePlace,
  { branch, head, target }: PullRequestOrder,
  hint: string | null,
): Promise<PullRequestLook> {
  const open = { head, target, state: 'open', review: 'none', hasConflict: false } as const;
  const [, named] = /\/merge_requests\/(\d+)$/.exec(hint ?? '') ?? [];
  if (named !== undefined && hint !== null)
    return { kind: 'found', facts: { ...open, url: hint, number: Number(named) } };
  const page = `https://${place.host ?? 'gitlab.com'}/${place.owner}/${place.name}/-/merge_requests`;
  for (const [ref, tip] of await remote.refs('refs/merge-requests/*/head')) {
    const [, number] = /^refs\/merge-requests\/(\d+)\/head$/.exec(ref) ?? [];
    if (number !== undefined && tip === head)
      return { kind: 'found', facts: { ...open, url: `${page}/${number}`, number: Number(number) } };
  }
  const query = new URLSearchParams({ 'merge_request[source_branch]': branch });
  const reason = `${branch} has no merge request. Copse cannot open one for a pushed branch without GITLAB_TOKEN.`;
  return { kind: 'unknown', hint: `${page}/new?${query.toString()}`, reason };
}
