/** Linear's GraphQL API, as far as its issues go: its shapes and its errors. The team is ENG. */

import type { Answer, Issue, IssueServer, Request } from './server.ts';

export function linearIssues(server: IssueServer, { method, path, headers, body }: Request): Answer {
  if (method !== 'POST' || path !== 'graphql') return { status: 404, body: 'Not Found' };
  if (headers['authorization'] !== server.token)
    return refusal('Authentication required, not authenticated', 'AUTHENTICATION_ERROR', 401);
  const { query, variables } = body as { query: string; variables: Record<string, string | null> };
  const issue = server.issues.find(
    ({ number }) => `ENG-${number}` === (variables['issue'] ?? variables['id']),
  );
  if (query.includes('issues(')) {
    const found = server.issues.filter(
      ({ labels, isClosed }) =>
        variables['team'] === 'ENG' && labels.has(variables['label'] ?? '') && !isClosed,
    );
    const from = Number(variables['after'] ?? 0);
    const size = Math.min(50, server.pageSize);
    const nodes = found.slice(from, from + size).map((one) => shape(server, one));
    const pageInfo = { hasNextPage: from + size < found.length, endCursor: String(from + size) };
    return data({ issues: { nodes, pageInfo } });
  }
  if (query.includes('commentUpdate(')) {
    const comment = server.issues
      .flatMap(({ comments }) => comments)
      .find(({ key }) => key === variables['id']);
    if (comment === undefined) return refusal('Entity not found: Comment', 'INVALID_INPUT');
    comment.text = variables['body'] ?? '';
    return data({ commentUpdate: { success: true, comment: { id: comment.key } } });
  }
  if (issue === undefined) return refusal('Entity not found: Issue', 'INVALID_INPUT');
  if (query.includes('commentCreate(')) {
    const key = variables['id'] ?? '';
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(key))
      return refusal('Argument Validation Error', 'INVALID_INPUT');
    if (issue.comments.some((one) => one.key === key)) return refusal('Conflict on insert', 'INVALID_INPUT');
    server.comment(issue, variables['body'] ?? '', server.login, key);
    return data({ commentCreate: { success: true, comment: { id: key } } });
  }
  if (query.includes('history(')) {
    const nodes = issue.events
      .map(({ label, by, at }) => ({
        createdAt: at,
        actor: { displayName: by },
        addedLabels: [{ name: label }],
      }))
      .toReversed();
    return data({ issue: { creator: { displayName: issue.author }, history: { nodes } } });
  }
  return data({ issue: shape(server, issue) });
}

function shape(server: IssueServer, issue: Issue) {
  const others = (numbers: readonly number[]) =>
    numbers.map((one) => ({ identifier: `ENG-${server.issues[one - 1]?.number}` }));
  return {
    identifier: `ENG-${issue.number}`,
    title: issue.title,
    updatedAt: issue.updatedAt,
    description: issue.body === '' ? null : issue.body,
    url: `https://linear.app/octo/issue/ENG-${issue.number}/slug`,
    creator: { displayName: issue.author },
    state: { type: issue.isClosed ? 'completed' : 'unstarted' },
    children: { nodes: others(issue.parts) },
    inverseRelations: {
      nodes: [
        { type: 'related', issue: { identifier: 'ENG-77' } },
        ...others(issue.blockedBy).map((one) => ({ type: 'blocks', issue: one })),
      ],
    },
  };
}

function data(value: object): Answer {
  return { status: 200, body: { data: value }, headers: { 'x-ratelimit-requests-remaining': '1499' } };
}

function refusal(message: string, code: string, status = 400): Answer {
  return { status, body: { errors: [{ message, extensions: { code } }], data: null } };
}
