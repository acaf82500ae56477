/** GitHub's REST API, as far as pull requests go: its paths, its shapes, its errors. */

import type { Asked, Told } from './server.ts';
import type { Pull, Pulls } from './pulls.ts';

export function github(pulls: Pulls, { owner, name, page }: GithubPlace, asked: Asked): Told {
  const { method, path, query, body } = asked;
  const isKnown = asked.headers['authorization'] === `Bearer ${asked.token}`;
  if (!isKnown) return refusal(401, 'Bad credentials');
  const [, of, rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/(.*)$/.exec(path) ?? [];
  if (of === undefined || decodeURIComponent(of) !== `${owner}/${name}`) return refusal(404, 'Not Found');
  if (rest === 'pulls' && method === 'GET') {
    const [head, state] = [query.get('head'), query.get('state') ?? 'open'];
    // What is not owner:branch is not asked about.
    const branch = head?.startsWith(`${owner}:`) ? head.slice(owner.length + 1) : null;
    const found = pulls.all
      .filter((pull) => branch === null || pull.branch === branch)
      .filter((pull) => state === 'all' || (state === 'open') === (pull.state === 'open'))
      .toReversed();
    return { status: 200, body: found.map((pull) => shape(pulls, pull, page)) };
  }
  if (rest === 'pulls' && method === 'POST') return open(pulls, { owner, name, page }, body);
  const [, kind, number, part] = /^(pulls|issues)\/(\d+)(?:\/(reviews))?$/.exec(rest) ?? [];
  const pull = pulls.all.find((one) => one.number === Number(number));
  if (method !== 'GET' || pull === undefined) return refusal(404, 'Not Found');
  if (kind === 'issues')
    return {
      status: 200,
      body: { number: pull.number, closed_by: pull.closedBy && { login: pull.closedBy } },
    };
  if (part === 'reviews') {
    const reviews = pull.reviews.map(({ user, state }) => ({ user: { login: user }, state, body: '' }));
    return { status: 200, body: reviews };
  }
  const isDirty = pull.target === 'dirty';
  return {
    status: 200,
    body: {
      ...shape(pulls, pull, page),
      merged: pull.state === 'merged',
      mergeable_state: isDirty ? 'dirty' : 'clean',
    },
  };
}

export interface GithubPlace {
  readonly owner: string;
  readonly name: string;
  /** Where its pages are. */
  readonly page: string;
}

function open(pulls: Pulls, place: GithubPlace, body: Asked['body']): Told {
  const { title, head, base, body: text } = body as Record<string, string>;
  const known = new Set(['title', 'head', 'base', 'body', 'draft']);
  if (Object.keys(body).some((key) => !known.has(key))) return refusal(422, 'Invalid request.');
  if (!title || !head || !base) return refusal(422, 'Invalid request.\n\n"head" wasn\'t supplied.');
  const branch = head.startsWith(`${place.owner}:`) ? head.slice(place.owner.length + 1) : head;
  if (pulls.tip(branch) === undefined) return invalid({ field: 'head', code: 'invalid' });
  if (pulls.tip(base) === undefined) return invalid({ field: 'base', code: 'invalid' });
  if (pulls.openFor(branch) !== undefined)
    return invalid({
      code: 'custom',
      message: `A pull request already exists for ${place.owner}:${branch}.`,
    });
  if (!pulls.isNew(branch, base))
    return invalid({ code: 'custom', message: `No commits between ${base} and ${branch}` });
  const pull = pulls.add({ title, body: text ?? '', branch, target: base });
  return { status: 201, body: shape(pulls, pull, place.page) };
}

function shape(pulls: Pulls, pull: Pull, page: string) {
  const isOpen = pull.state === 'open';
  return {
    number: pull.number,
    html_url: `${page}/pull/${pull.number}`,
    state: isOpen ? 'open' : 'closed',
    title: pull.title,
    body: pull.body,
    draft: false,
    merged_at: pull.state === 'merged' ? '2026-01-01T00:00:00Z' : null,
    // Of an open one, a commit that only tries the merge.
    merge_commit_sha: pull.mergeCommit ?? 'e5bd3914e2e596debea16f433f57875b5b90bcd6',
    head: { ref: pull.branch, sha: pulls.headOf(pull) },
    base: { ref: pull.target },
  };
}

function invalid(error: Readonly<Record<string, string>>): Told {
  const errors = [{ resource: 'PullRequest', ...error }];
  return { ...refusal(422, 'Validation Failed'), body: { message: 'Validation Failed', errors } };
}

function refusal(status: number, message: string): Told {
  return {
    status,
    body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  };
}
