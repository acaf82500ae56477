/** Pull requests on GitHub, by `gh` or by its API. */

import { type BranchName, type CommitId, type Timestamp, brand } from '../../kernel/ids.ts';
import type { ReviewVerdict } from '../rules/pull-request.ts';
import type { ForgeProblem, PullRequestLook, PullRequestFacts, PullRequestOrder } from '../port.ts';
import type { RemotePlace } from './address.ts';
import { type ApiAnswer, type Api, fieldsOf, messageOf, numberIn, problemIn, stringIn } from './api.ts';

export interface Hosted {
  readonly api: Api;
  readonly place: RemotePlace;
  readonly now: () => Timestamp;
}

export async function openOnGithub(hosted: Hosted, order: PullRequestOrder): Promise<PullRequestLook> {
  const there = await findOnGithub(hosted, order);
  if (there !== undefined) return there;
  const { api, now } = hosted;
  const { title, body, branch: head, target: base } = order;
  const path = `${repository(hosted)}/pulls`;
  const answer = await api.ask({ method: 'POST', path, body: { title, body, head, base } });
  const problem = problemIn(api, answer, now());
  if (problem === undefined) return factsIn(api, answer);
  // Another orchestrator or a person opened it meanwhile.
  const isThere =
    answer.kind === 'answered' && answer.status === 422 && /already exists/i.test(messageOf(answer.body));
  const other = isThere ? await findOnGithub(hosted, order) : undefined;
  return other ?? { kind: 'failed', ...problem };
}

/** The branch's open pull request; otherwise one for exactly this commit, in any state. */
async function findOnGithub(
  hosted: Hosted,
  { branch, head }: PullRequestOrder,
): Promise<PullRequestLook | undefined> {
  const { api, place, now } = hosted;
  const asked = new URLSearchParams({
    head: `${place.owner}:${branch}`,
    state: 'all',
    sort: 'created',
    direction: 'desc',
    per_page: '100',
  });
  const answer = await api.ask({ method: 'GET', path: `${repository(hosted)}/pulls?${asked.toString()}` });
  const problem = problemIn(api, answer, now());
  if (problem !== undefined) return { kind: 'failed', ...problem };
  const all =
    answer.kind === 'answered' && Array.isArray(answer.body) ? (answer.body as readonly unknown[]) : [];
  // For a name that it does not accept as a branch, GitHub answers with all pull requests.
  const own = all.filter((one) => stringIn(fieldsOf(one)['head'], 'ref') === branch);
  const found =
    own.find((one) => stringIn(one, 'state') === 'open') ??
    own.find((one) => stringIn(fieldsOf(one)['head'], 'sha') === head);
  return found === undefined ? undefined : read(api, found);
}

/** Keeps answers with their ETags: an unchanged answer does not count against the rate limit. */
export class GithubReader {
  readonly #before = new Map<string, { readonly etag: string; readonly answer: ApiAnswer }>();

  async look(hosted: Hosted, number: number): Promise<PullRequestLook> {
    const { api, now } = hosted;
    const path = `${repository(hosted)}/pulls/${number}`;
    const answer = await this.#get(api, path);
    const problem = problemIn(api, answer, now());
    if (problem !== undefined) return { kind: 'failed', ...problem };
    const looked = factsIn(api, answer);
    if (looked.kind !== 'found') return looked;
    const { facts } = looked;
    if (facts.state === 'merged') return looked;
    if (facts.state === 'closed') {
      const issue = await this.#get(api, `${repository(hosted)}/issues/${number}`);
      const by = issue.kind === 'answered' ? stringIn(fieldsOf(issue.body)['closed_by'], 'login') : undefined;
      return { kind: 'found', facts: { ...facts, by: by ?? null } };
    }
    const reviews = await this.#get(api, `${path}/reviews?per_page=100`);
    const refused = problemIn(api, reviews, now());
    if (refused !== undefined) return { kind: 'failed', ...refused };
    return { kind: 'found', facts: { ...facts, review: reviewIn(reviews) } };
  }

  async #get(api: Api, path: string): Promise<ApiAnswer> {
    const before = this.#before.get(path);
    const answer = await api.ask({ method: 'GET', path, etag: before?.etag });
    if (answer.kind !== 'answered') return answer;
    if (answer.status === 304 && before !== undefined) return before.answer;
    const etag = answer.header('etag');
    if (answer.status === 200 && etag !== null) this.#before.set(path, { etag, answer });
    return answer;
  }
}

function repository({ place }: Hosted): string {
  return `repos/${encodeURIComponent(place.owner)}/${encodeURIComponent(place.name)}`;
}

function factsIn(api: Api, answer: ApiAnswer): PullRequestLook {
  return read(api, answer.kind === 'answered' ? answer.body : null);
}

function read(api: Api, body: unknown): PullRequestLook {
  const number = numberIn(body, 'number');
  const url = stringIn(body, 'html_url');
  const { head, base, merged_at: mergedAt, mergeable_state: mergeable } = fieldsOf(body);
  const sha = stringIn(head, 'sha');
  const target = stringIn(base, 'ref');
  if (number === undefined || url === undefined || sha === undefined || target === undefined)
    return { kind: 'failed', ...unexpected(api) };
  const seen = { url, number, head: brand<CommitId>(sha), target: brand<BranchName>(target) };
  return { kind: 'found', facts: stateOf(body, seen, { isMerged: typeof mergedAt === 'string', mergeable }) };
}

function stateOf(
  body: unknown,
  seen: Pick<PullRequestFacts, 'url' | 'number' | 'head' | 'target'>,
  { isMerged, mergeable }: { readonly isMerged: boolean; readonly mergeable: unknown },
): PullRequestFacts {
  if (isMerged) {
    // While it is open, this is GitHub's test merge.
    const commit = stringIn(body, 'merge_commit_sha');
    return { ...seen, state: 'merged', commit: commit === undefined ? null : brand(commit) };
  }
  if (stringIn(body, 'state') !== 'open') return { ...seen, state: 'closed', by: null };
  return { ...seen, state: 'open', review: 'none', hasConflict: mergeable === 'dirty' };
}

/** From the last review of each reviewer; comments do not count. */
function reviewIn(answer: ApiAnswer): ReviewVerdict {
  const last = new Map<string, string>();
  const all =
    answer.kind === 'answered' && Array.isArray(answer.body) ? (answer.body as readonly unknown[]) : [];
  for (const one of all) {
    const [who, said] = [stringIn(fieldsOf(one)['user'], 'login'), stringIn(one, 'state')];
    if (who !== undefined && said !== undefined && said !== 'COMMENTED' && said !== 'PENDING')
      last.set(who, said);
  }
  const words = new Set(last.values());
  if (words.has('CHANGES_REQUESTED')) return 'changes_requested';
  return words.has('APPROVED') ? 'approved' : 'none';
}

export function unexpected(api: Api): ForgeProblem {
  const reason = `${api.name}: the answer is not a pull request.`;
  return { because: 'refused', reason, until: null };
}
