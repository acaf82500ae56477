/** GitHub's REST API for issues: its paths, its shapes, its errors. The repository is octo/trees. */

import type { Answer, Issue, IssueServer, Request } from './server.ts';

const REPOSITORY = 'https://api.github.com/repos/octo/trees';

export function githubIssues(server: IssueServer, asked: Request): Answer {
  const { method, path, query, body, headers } = asked;
  if (headers['authorization'] !== `Bearer ${server.token}`) return refusal(401, 'Bad credentials');
  const [, rest] = /^repos\/octo\/trees\/(.*)$/.exec(path) ?? [];
  if (rest === undefined) return refusal(404, 'Not Found');
  if (rest === 'issues' && method === 'GET') {
    const label = query.get('labels');
    const found = server.issues
      .filter((issue) => label === null || issue.labels.has(label))
      .filter((issue) => query.get('state') === 'all' || !issue.isClosed);
    return server.page(asked, [...found.map(shape), pullRequest]);
  }
  const [, comment] = /^issues\/comments\/(\d+)$/.exec(rest) ?? [];
  if (comment !== undefined) return editComment(server, Number(comment), asked);
  const [, number, part = '', name] =
    /^issues\/(\d+)(?:\/(comments|events|labels|sub_issues|dependencies\/blocked_by)(?:\/(.+))?)?$/.exec(
      rest,
    ) ?? [];
  const issue = server.issues.find((one) => one.number === Number(number));
  if (issue === undefined) return refusal(404, 'Not Found');
  switch (`${method} ${part}`) {
    case 'GET ':
      return { status: 200, body: shape(issue) };
    case 'GET comments':
      return server.page(asked, issue.comments.map(commentShape));
    case 'POST comments': {
      server.comment(issue, String(body['body']));
      return { status: 201, body: commentShape(issue.comments.at(-1) as Issue['comments'][number]) };
    }
    case 'GET events':
      return server.page(asked, [
        { event: 'mentioned', actor: { login: 'eve' } },
        ...issue.events.map(({ is, label, by, at }) => ({
          event: is,
          created_at: at,
          actor: { login: by },
          label: { name: label },
        })),
      ]);
    case 'GET labels':
      return server.page(
        asked,
        Array.from(issue.labels, (label) => ({ name: label })),
      );
    case 'POST labels':
      for (const label of body['labels'] as readonly string[]) server.label(issue, label, server.login);
      return { status: 200, body: Array.from(issue.labels, (label) => ({ name: label })) };
    case 'DELETE labels':
      if (!issue.labels.delete(decodeURIComponent(name ?? ''))) return refusal(404, 'Label does not exist');
      return { status: 200, body: [] };
    case 'GET sub_issues':
      return server.page(
        asked,
        issue.parts.map((one) => shape(server.issues[one - 1] as Issue)),
      );
    case 'GET dependencies/blocked_by':
      return server.page(asked, [
        ...issue.blockedBy.map((one) => shape(server.issues[one - 1] as Issue)),
        { number: 1, title: 'Of another repository', repository_url: `${REPOSITORY}-else` },
      ]);
    default:
      return refusal(404, 'Not Found');
  }
}

function editComment(server: IssueServer, id: number, { method, body }: Request): Answer {
  const found = server.issues.flatMap(({ comments }) => comments).find((one) => one.id === id);
  if (found === undefined || method !== 'PATCH') return refusal(404, 'Not Found');
  found.text = String(body['body']);
  return { status: 200, body: commentShape(found) };
}

/** The list of issues has pull requests too. */
const pullRequest = {
  number: 4_000,
  title: 'A pull request',
  state: 'open',
  pull_request: { url: `${REPOSITORY}/pulls/4000` },
};

function shape(issue: Issue) {
  return {
    url: `${REPOSITORY}/issues/${issue.number}`,
    repository_url: REPOSITORY,
    html_url: `https://github.com/octo/trees/issues/${issue.number}`,
    number: issue.number,
    title: issue.title,
    updated_at: issue.updatedAt,
    user: { login: issue.author, type: 'User' },
    labels: Array.from(issue.labels, (name) => ({ name })),
    state: issue.isClosed ? 'closed' : 'open',
    locked: false,
    comments: issue.comments.length,
    // GitHub sends null for an issue without text.
    body: issue.body === '' ? null : issue.body,
    sub_issues_summary: { total: issue.parts.length, completed: 0, percent_completed: 0 },
    issue_dependencies_summary: { blocked_by: issue.blockedBy.length, total_blocked_by: 0, blocking: 0 },
  };
}

function commentShape({ id, author, text }: Issue['comments'][number]) {
  return { id, body: text, user: { login: author } };
}

function refusal(status: number, message: string): Answer {
  return {
    status,
    body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  };
}
