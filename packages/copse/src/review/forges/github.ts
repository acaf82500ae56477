/** Pull requests on GitHub, by whichever way to its API there is. */

import { type BranchName, type CommitId, type Timestamp, brand } from '../../kernel/ids.ts';
import type { Review } from '../rules/pull-request.ts';
import type { ForgeProblem, Looked, PullRequestFacts, PullRequestOrder } from '../port.ts';
import type { RemotePlace } from './address.ts';
import { type Answer, type Api, fieldsOf, messageOf, numberIn, problemIn, stringIn } from './api.ts';

export interface Hosted {
  readonly api: Api;
  readonly place: RemotePlace;
  readonly now: () => Timestamp;
}

export async function openOnGithub(hosted: Hosted, order: PullRequestOrder): Promise<Looked> {
  const there = await findOnGithub(hosted, order);
  if (there !== undefined) return there;
  const { api, now } = hosted;
  const { title, body, branch: head, target: base } = order;
  const path = `${repository(hosted)}/pulls`;
  const answer = await api.ask({ method: 'POST', path, body: { title, body, head, base } });
  const problem = problemIn(api, answer, now());
  if (problem === undefined) return factsIn(api, answer);
  // Somebody else was faster, perhaps another orchestrator.
  const isThere = answer.answered && answer.status === 422 && /already exists/i.test(messageOf(answer.body));
  const other = isThere ? await findOnGithub(hosted, order) : undefined;
  return other ?? { found: false, ...problem };
}

/** The open one for the branch; else one for exactly this commit, whatever became of it. */
async function findOnGithub(hosted: Hosted, { branch, head }: PullRequestOrder): Promise<Looked | undefined> {
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
  if (problem !== undefined) return { found: false, ...problem };
  const all = answer.answered && Array.isArray(answer.body) ? (answer.body as readonly unknown[]) : [];
  // Asked for a branch that it does not take for one, it answers with all there are.
  const own = all.filter((one) => stringIn(fieldsOf(one)['head'], 'ref') === branch);
  const found =
    own.find((one) => stringIn(one, 'state') === 'open') ??
    own.find((one) => stringIn(fieldsOf(one)['head'], 'sha') === head);
  return found === undefined ? undefined : read(api, found);
}

/** What was answered before, with what GitHub calls it: asked with that, it does not count against the limit. */
export class GithubReader {
  readonly #before = new Map<string, { readonly etag: string; readonly answer: Answer }>();

  async look(hosted: Hosted, number: number): Promise<Looked> {
    const { api, now } = hosted;
    const path = `${repository(hosted)}/pulls/${number}`;
    const answer = await this.#get(api, path);
    const problem = problemIn(api, answer, now());
    if (problem !== undefined) return { found: false, ...problem };
    const looked = factsIn(api, answer);
    if (!looked.found) return looked;
    const { facts } = looked;
    if (facts.state === 'merged') return looked;
    if (facts.state === 'closed') {
      const issue = await this.#get(api, `${repository(hosted)}/issues/${number}`);
      const by = issue.answered ? stringIn(fieldsOf(issue.body)['closed_by'], 'login') : undefined;
      return { found: true, facts: { ...facts, by: by ?? null } };
    }
    const reviews = await this.#get(api, `${path}/reviews?per_page=100`);
    const refused = problemIn(api, reviews, now());
    if (refused !== undefined) return { found: false, ...refused };
    return { found: true, facts: { ...facts, review: reviewIn(reviews) } };
  }

  async #get(api: Api, path: string): Promise<Answer> {
    const before = this.#before.get(path);
    const answer = await api.ask({ method: 'GET', path, etag: before?.etag });
    if (!answer.answered) return answer;
    if (answer.status === 304 && before !== undefined) return before.answer;
    const etag = answer.header('etag');
    if (answer.status === 200 && etag !== null) this.#before.set(path, { etag, answer });
    return answer;
  }
}

function repository({ place }: Hosted): string {
  return `repos/${encodeURIComponent(place.owner)}/${encodeURIComponent(place.name)}`;
}

function factsIn(api: Api, answer: Answer): Looked {
  return read(api, answer.answered ? answer.body : null);
}

function read(api: Api, body: unknown): Looked {
  const number = numberIn(body, 'number');
  const url = stringIn(body, 'html_url');
  const { head, base, merged_at: mergedAt, mergeable_state: mergeable } = fieldsOf(body);
  const sha = stringIn(head, 'sha');
  const target = stringIn(base, 'ref');
  if (number === undefined || url === undefined || sha === undefined || target === undefined)
    return { found: false, ...strange(api) };
  const seen = { url, number, head: brand<CommitId>(sha), target: brand<BranchName>(target) };
  return { found: true, facts: stateOf(body, seen, { isMerged: typeof mergedAt === 'string', mergeable }) };
}

function stateOf(
  body: unknown,
  seen: Pick<PullRequestFacts, 'url' | 'number' | 'head' | 'target'>,
  { isMerged, mergeable }: { readonly isMerged: boolean; readonly mergeable: unknown },
): PullRequestFacts {
  if (isMerged) {
    // While it is open, this is a commit that only tries the merge.
    const commit = stringIn(body, 'merge_commit_sha');
    return { ...seen, state: 'merged', commit: commit === undefined ? null : brand(commit) };
  }
  if (stringIn(body, 'state') !== 'open') return { ...seen, state: 'closed', by: null };
  return { ...seen, state: 'open', review: 'none', hasConflict: mergeable === 'dirty' };
}

/** The last word of everybody who reviewed it; a comment alone is none. */
function reviewIn(answer: Answer): Review {
  const last = new Map<string, string>();
  const all = answer.answered && Array.isArray(answer.body) ? (answer.body as readonly unknown[]) : [];
  for (const one of all) {
    const [who, said] = [stringIn(fieldsOf(one)['user'], 'login'), stringIn(one, 'state')];
    if (who !== undefined && said !== undefined && said !== 'COMMENTED' && said !== 'PENDING')
      last.set(who, said);
  }
  const words = new Set(last.values());
  if (words.has('CHANGES_REQUESTED')) return 'changes_requested';
  return words.has('APPROVED') ? 'approved' : 'none';
}

export function strange(api: Api): ForgeProblem {
  const reason = `${api.name}: its answer is not one about a pull request.`;
  return { because: 'refused', reason, until: null };
}
