/** GitLab's REST API for issues: its paths, its shapes, its errors. The project is group/sub/trees. */

import type { Answer, Issue, IssueServer, Request } from './server.ts';

export function gitlabIssues(server: IssueServer, asked: Request): Answer {
  const { method, path, query, body, headers } = asked;
  if (headers['private-token'] !== server.token)
    return { status: 401, body: { message: '401 Unauthorized' } };
  const [, rest] = /^projects\/group%2Fsub%2Ftrees\/(.*)$/.exec(path) ?? [];
  if (rest === undefined) return { status: 404, body: { message: '404 Project Not Found' } };
  if (rest === 'issues' && method === 'GET') {
    const label = query.get('labels');
    const found = server.issues
      .filter((issue) => label === null || issue.labels.has(label))
      .filter((issue) => query.get('state') !== 'opened' || !issue.isClosed);
    return server.page(asked, found.map(shape));
  }
  const [, number, part = '', id] =
    /^issues\/(\d+)(?:\/(notes|resource_label_events|links)(?:\/(\d+))?)?$/.exec(rest) ?? [];
  const issue = server.issues.find((one) => one.number === Number(number));
  if (issue === undefined) return notFound;
  switch (`${method} ${part}`) {
    case 'GET ':
      return { status: 200, body: shape(issue) };
    case 'PUT ': {
      const names = (value: unknown) =>
        (typeof value === 'string' ? value : '').split(',').filter((one) => one !== '');
      for (const label of names(body['remove_labels'])) issue.labels.delete(label);
      for (const label of names(body['add_labels'])) server.label(issue, label, server.login);
      return { status: 200, body: shape(issue) };
    }
    case 'GET notes':
      return server.page(asked, issue.comments.map(noteShape));
    case 'POST notes':
      server.comment(issue, String(body['body']));
      return { status: 201, body: noteShape(issue.comments.at(-1) as Issue['comments'][number]) };
    case 'PUT notes': {
      const note = issue.comments.find((one) => one.id === Number(id));
      if (note === undefined) return notFound;
      note.text = String(body['body']);
      return { status: 200, body: noteShape(note) };
    }
    case 'GET resource_label_events':
      return server.page(
        asked,
        issue.events.map(({ is, label, by, at }) => ({
          created_at: at,
          user: { username: by },
          action: is === 'labeled' ? 'add' : 'remove',
          // Null for a label that was deleted.
          label: label === '' ? null : { name: label },
        })),
      );
    case 'GET links':
      return {
        status: 200,
        body: issue.blockedBy.map((one) =>
          Object.assign(shape(server.issues[one - 1] as Issue), { link_type: 'is_blocked_by' }),
        ),
      };
    default:
      return notFound;
  }
}

const notFound: Answer = { status: 404, body: { message: '404 Not found' } };

function shape(issue: Issue) {
  return {
    id: 70_000 + issue.number,
    iid: issue.number,
    project_id: 7,
    title: issue.title,
    updated_at: issue.updatedAt,
    description: issue.body === '' ? null : issue.body,
    state: issue.isClosed ? 'closed' : 'opened',
    labels: [...issue.labels],
    author: { username: issue.author },
    web_url: `https://gitlab.com/group/sub/trees/-/issues/${issue.number}`,
  };
}

function noteShape({ id, author, text }: Issue['comments'][number]) {
  return { id, body: text, author: { username: author }, system: false };
}
