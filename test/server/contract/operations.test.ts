/** Operations over HTTP, on a real repository: input, answers, errors, keys, tags, pages and confirmations. */

import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Operation } from '../../../packages/copse/src/operations/operation.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { operationRoutes } from '../../../packages/copse/src/server/api/routes.ts';
import { problemStatuses } from '../../../packages/copse/src/server/rules/problem.ts';
import { answer, copse, newArea, newRepository, type TaskDocument } from '../../support/cli.ts';
import { type Served, ask } from '../../support/server/served.ts';
import { call, called, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
let cwd: string;
let served: Served;
beforeAll(async () => {
  cwd = newRepository(area);
  served = await serveRepository(cwd, { USER: 'ada' });
});
afterAll(() => served[Symbol.asyncDispose]());

function add(title: string, more: object = {}): Promise<TaskDocument> {
  return called(served, 'POST /tasks', { body: { title, ...more } });
}

interface Problem {
  readonly detail: string;
  readonly code: string;
}

describe('input', () => {
  test('comes from the path and from a JSON body, and the answer is the document of --json', async () => {
    const { id } = await add('By HTTP', { priority: 'p4', areas: ['src/**'] });
    const edited = await call(served, `PATCH /tasks/${id}`, { body: { priority: 'p5', agent: null } });
    expect(edited).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    const { body: _, ...shown } = await answer<Record<string, unknown>>(['show', id], { cwd });
    expect(shown).toMatchObject({ title: 'By HTTP', priority: 'p5', areas: ['src/**'] });
    expect(await called(served, `GET /tasks/${id}`)).toEqual(await answer(['show', id], { cwd }));
  });

  test('of a GET is read from the query by the types of its fields', async () => {
    await add('Urgent', { priority: 'p5' });
    const page = await called(served, 'GET /tasks?status=ready,pending&limit=1&all=true&sort=priority');
    const argv = ['list', '--status', 'ready,pending', '--limit', '1', '--all', '--sort', 'priority'];
    expect(page).toEqual(await answer(argv, { cwd }));
  });

  test.each([
    ['POST /tasks', { titel: 'x' }, 'The field "titel" is unknown. Did you mean title? Fields: title, body'],
    ['POST /tasks', {}, 'The field "title" is missing.'],
    ['POST /tasks', { title: 1 }, 'The field "title" must be a text.'],
    [
      'POST /tasks',
      { title: 'x', priority: 'p9' },
      'The field "priority" must be one of p1, p2, p3, p4, p5.',
    ],
    ['POST /tasks', { title: 'x', areas: ['a', 1] }, 'The field "areas.1" must be a text.'],
    [
      'POST /tasks?title=x',
      { title: 'x' },
      'POST takes its fields in a JSON body, and "title" is in the query.',
    ],
    ['POST /tasks/cp-x/pause', { task: 'cp-y' }, 'The field "task" is in the path already.'],
    ['GET /tasks?limit=x', undefined, 'The field "limit" must be a number.'],
    ['GET /tasks?limit=0', undefined, 'The field "limit" must be at least 1.'],
    ['GET /tasks?all=yes', undefined, 'The field "all" must be true or false.'],
    ['GET /tasks?status=ready,late', undefined, 'The field "status.1" must be one of pending, ready,'],
    ['GET /tasks?tsk=x', undefined, 'The field "tsk" is unknown.'],
    ['GET /tasks/cp-x?task=cp-y', undefined, 'The field "task" is in the path already.'],
    ['GET /tasks?cursor=x', undefined, 'The cursor is not one of this list.'],
    [
      'POST /tasks',
      { title: 'x', dependsOn: Array.from({ length: 1_001 }, () => 1) },
      'The field "dependsOn" must have at most 1000 entries.',
    ],
    [
      'POST /tasks',
      { title: 'x', body: 'half \ud800' },
      'The field "body" has half a character (a lone surrogate).',
    ],
    ['GET /events/page?after=x', undefined, 'after must be an event number, not "x".'],
    ['GET /cost?since=x', undefined, 'since must be a time like'],
    ['POST /tasks/delete', { tasks: [] }, 'The field "tasks" must have at least 1 entry.'],
  ])('%s %j is refused: %s', async (request, body, sentence) => {
    const last = await served.board.lastEvent();
    const refused = await call(served, request, { body, headers: { confirm: 'task.delete' } });
    expect(JSON.parse(refused.body)).toMatchObject({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      code: 'invalid',
      detail: expect.stringContaining(sentence) as string,
      next: [expect.stringMatching(/^copse /)],
    });
    expect(refused).toMatchObject({ status: 400, headers: { 'content-type': 'application/problem+json' } });
    expect(await served.board.lastEvent()).toBe(last);
  });

  test.each([
    ['{"title"', 'application/json', 400, 'usage', 'The body of the request is no JSON.'],
    ['["title"]', 'application/json', 400, 'usage', 'The body of the request is no JSON object.'],
    [
      Buffer.from([0x22, 0xff, 0x22]),
      'application/json',
      400,
      'usage',
      'The body of the request is no JSON.',
    ],
    ['title=x', 'application/x-www-form-urlencoded', 415, 'unsupported_type', 'has the content type'],
    ['1 MB and more', 'application/json', 413, 'too_large', 'may have 1.0 MB'],
  ])('the body %s of type %s is answered with %i %s', async (given, type, status, code, sentence) => {
    const headers = { 'content-type': type };
    const body = status === 413 ? Buffer.alloc(1_100_000, 'x') : given;
    const refused = await ask(served, '/api/v1/tasks', { method: 'POST', headers, body });
    expect({ status: refused.status, ...(JSON.parse(refused.body) as Problem) }).toMatchObject({
      status,
      code,
      detail: expect.stringContaining(sentence) as string,
    });
  });
});

describe('an error', () => {
  test('has the sentence, the next commands and the task of the command line', async () => {
    const { id } = await add('Not started');
    const { status, body } = await call(served, `POST /tasks/${id}/resume`);
    const command = await copse(['resume', id, '--json'], { cwd });
    const { error } = JSON.parse(command.stderr || command.stdout) as {
      error: { reason: string; next: readonly string[] };
    };
    expect({ status, ...(JSON.parse(body) as object) }).toEqual({
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      detail: error.reason,
      code: 'wrong_status',
      next: error.next,
      task: id,
    });
  });

  test.each([
    ['GET /tasks/cp-none', 404, 'not_found'],
    ['GET /no/such/path', 404, 'not_found'],
    ['GET /tasks/cp-x/pause', 405, 'method_not_allowed'],
    ['PUT /tasks', 405, 'method_not_allowed'],
    ['GET /tasks?limit=1&limit=2', 400, 'usage'],
    ['GET /tasks/', 400, 'usage'],
    ['GET /tasks/%zz', 400, 'usage'],
  ])('%s: %i %s', async (request, status, code) => {
    const got = await call(served, request);
    expect({ status: got.status, ...(JSON.parse(got.body) as Problem) }).toMatchObject({
      status,
      code,
      next: [expect.stringMatching(/^copse /)],
    });
  });

  test('405 names the methods that the path has', async () => {
    expect((await call(served, 'PUT /tasks')).headers['allow']).toBe('GET, POST');
    expect((await call(served, 'DELETE /tasks/cp-x')).headers['allow']).toBe('GET, PATCH');
  });

  test('of every code is an error of HTTP', () => {
    for (const [code, status] of Object.entries(problemStatuses))
      expect({ code, isError: status >= 400 && status < 600 }).toEqual({ code, isError: true });
  });

  // promise: server-entry
  test('has one answer without the token, for every route and for none', async () => {
    const answers = new Set<string>();
    for (const { http } of operations) {
      const path = http.path.replaceAll(/\{\w+\}/g, 'x');
      const { status, body } = await call(served, `${http.method} ${path}`, { token: false });
      answers.add(`${status} ${body}`);
    }
    answers.add(
      await call(served, 'GET /none', { token: false }).then(({ status, body }) => `${status} ${body}`),
    );
    answers.add(
      await call(served, 'GET /openapi.json', { token: false }).then((got) => `${got.status} ${got.body}`),
    );
    expect([...answers]).toEqual([expect.stringMatching(/^401 .*needs the token of copse serve/)]);
  });
});

// promise: server-once
describe('an Idempotency-Key', () => {
  const keyed = (key: string) => ({ 'idempotency-key': key });

  /** The client goes away before the answer comes. */
  async function sendAndLeave(
    path: string,
    { body, headers }: { readonly body: object; readonly headers: object },
  ): Promise<void> {
    const text = JSON.stringify(body);
    const own = {
      host: `127.0.0.1:${served.port}`,
      authorization: `Bearer ${served.server.keys.token}`,
      'content-length': String(text.length),
      ...headers,
    };
    const lines = Object.entries(own).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(served.port, '127.0.0.1');
    await new Promise<void>((resolve) =>
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`, () => resolve()),
    );
    socket.destroy();
  }

  test('adds one task, however often and however fast it comes', async () => {
    const headers = keyed('one');
    const request = { body: { title: 'Once' }, headers };
    const all = await Promise.all([1, 2, 3, 4].map(() => call(served, 'POST /tasks', request)));
    all.push(await call(served, 'POST /tasks', request));
    expect(new Set(all.map(({ body }) => body)).size).toBe(1);
    expect(all.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(all.at(-1)?.headers['idempotent-replayed']).toBe('true');
    const tasks = await served.board.tasks({ order: 'urgent' });
    expect(tasks.filter(({ title }) => title === 'Once')).toHaveLength(1);
  });

  test('gives the same answer after the connection was cut, and by another server', async () => {
    const request = { body: { title: 'Cut' }, headers: keyed('cut') };
    const last = await served.board.lastEvent();
    await sendAndLeave('/api/v1/tasks', request);
    while ((await served.board.lastEvent()) === last) await new Promise((go) => setTimeout(go, 5));
    const first = await call(served, 'POST /tasks', request);
    expect(first).toMatchObject({ status: 201 });
    const tasks = await served.board.tasks({ order: 'urgent' });
    expect(tasks.filter(({ title }) => title === 'Cut')).toHaveLength(1);
    await using later = await serveRepository(cwd);
    expect((await call(later, 'POST /tasks', request)).body).toBe(first.body);
    const other = { ...request, body: { title: 'Another' } };
    expect(await call(later, 'POST /tasks', other)).toMatchObject({ status: 422 });
    // The same key for another operation is another request too.
    expect(await call(later, 'POST /plans', request)).toMatchObject({ status: 422 });
  });

  test('of a refused request is free again', async () => {
    const headers = keyed('refused');
    const wrong = await call(served, 'POST /tasks', {
      body: { title: 'x', dependsOn: ['cp-none'] },
      headers,
    });
    expect(wrong.status).toBe(404);
    expect(await call(served, 'POST /tasks', { body: { title: 'Right' }, headers })).toMatchObject({
      status: 201,
    });
  });

  test('that is no key, or is for an operation that adds nothing, is refused', async () => {
    const { id } = await add('Paused');
    expect(await call(served, 'POST /tasks', { body: { title: 'x' }, headers: keyed('a b') })).toMatchObject({
      status: 400,
    });
    const refused = await call(served, `POST /tasks/${id}/pause`, { headers: keyed('k') });
    expect(refused).toMatchObject({ status: 400, body: expect.stringContaining('takes no Idempotency-Key') });
  });
});

describe('a client that polls', () => {
  test.each(['/tasks', '/status', '/inbox', '/plans'])(
    '%s gets 304 until something changes',
    async (path) => {
      const first = await call(served, `GET ${path}`);
      const etag = first.headers['etag'] ?? '';
      const headers = { 'if-none-match': `"other", ${etag}` };
      expect(await call(served, `GET ${path}`, { headers })).toMatchObject({
        status: 304,
        body: '',
        headers: { etag },
      });
      await add('New');
      await called(served, 'POST /plans', { body: { title: 'New' } });
      if (path !== '/inbox')
        expect(await call(served, `GET ${path}`, { headers })).toMatchObject({ status: 200 });
    },
  );
});

describe('a page of events', () => {
  interface Page {
    readonly events: readonly { readonly cursor: string; readonly number: number }[];
    readonly lost: object | null;
    readonly cursor: string;
  }

  test('after a cursor beyond the end says what is lost, as a stream does, and goes on from the end', async () => {
    await add('The last one');
    const last = await served.board.lastEvent();
    const lost = { term: 1, from: last + 1, to: last + 5 };
    for (const after of [`1:${last + 5}`, `9:${last + 5}`, `${last + 5}`])
      expect(await called<Page>(served, `GET /events/page?after=${after}`)).toEqual({
        events: [],
        lost,
        cursor: `1:${last}`,
        hasMore: false,
      });
    expect(await called<Page>(served, `GET /events/page?after=1:${last}`)).toMatchObject({ lost: null });
  });

  test('after a term that the board never had has the present term in its cursors', async () => {
    const page = await called<Page>(served, 'GET /events/page?after=9:0&limit=1');
    expect(page).toMatchObject({ events: [{ cursor: '1:1' }], cursor: '1:1' });
  });

  test.each(['1:1:1', 'x:1:1', ':1', '1:', '1234567890:1'])('after %s is refused', async (after) => {
    expect((await call(served, `GET /events/page?after=${after}`)).status).toBe(400);
  });
});

describe('pages of tasks', () => {
  interface Page {
    readonly tasks: readonly { readonly id: string; readonly title: string }[];
    readonly cursor: string | null;
  }

  async function pages(query: string, between: (at: number) => Promise<void>): Promise<readonly string[]> {
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let at = 0; cursor !== null; at += 1) {
      const after = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: Page = await called<Page>(pagesServed, `GET /tasks?${query}${after}`);
      seen.push(...page.tasks.map(({ id }) => id));
      ({ cursor } = page);
      await between(at);
    }
    return seen;
  }

  let pagesServed: Served;
  beforeAll(async () => {
    pagesServed = await serveRepository(newRepository(area));
    for (const [index, title] of ['c', 'A', 'b', 'E', 'd', 'f', 'g'].entries()) {
      const body = { title, priority: `p${(index % 3) + 2}` };
      const { id } = await called<TaskDocument>(pagesServed, 'POST /tasks', { body });
      if (index < 3)
        await called(pagesServed, `POST /tasks/${id}/cancel`, { headers: { confirm: 'task.cancel' } });
    }
  });
  afterAll(() => pagesServed[Symbol.asyncDispose]());

  test.each(['status', 'age', 'priority', 'title', 'updated'])(
    'by %s have every task once and in order, while tasks are added and deleted',
    async (sort) => {
      const whole = await called<Page>(pagesServed, `GET /tasks?all=true&sort=${sort}`);
      const wanted = whole.tasks.map(({ id }) => id);
      expect({ cursor: whole.cursor, few: wanted.length < 7 }).toEqual({ cursor: null, few: false });
      const seen = await pages(`all=true&sort=${sort}&limit=2`, async (at) => {
        // Before and after the place where the reader is.
        const body = { title: at % 2 === 0 ? 'a before' : 'z after', priority: at % 2 === 0 ? 'p5' : 'p1' };
        const { id } = await called<TaskDocument>(pagesServed, 'POST /tasks', { body });
        if (at > 0)
          await called(pagesServed, 'POST /tasks/delete', {
            body: { tasks: [id] },
            headers: { confirm: 'task.delete' },
          });
      });
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => wanted.includes(id))).toEqual(wanted);
    },
  );

  test('end after the latest finished tasks, unless all are wanted', async () => {
    const seen = await pages('limit=3', async () => {});
    const { tasks } = await called<Page>(pagesServed, 'GET /tasks');
    expect(seen).toEqual(tasks.map(({ id }) => id));
  });

  test('have a cursor for one order only', async () => {
    const { cursor } = await called<Page>(pagesServed, 'GET /tasks?limit=1&sort=age');
    expect(await call(pagesServed, `GET /tasks?limit=1&sort=title&cursor=${cursor}`)).toMatchObject({
      status: 400,
    });
  });
});

describe('an operation that destroys', () => {
  // promise: server-confirms
  test('needs its name as a confirmation, and the answer says how to undo it', async () => {
    const { id } = await add('To delete');
    const request = { body: { tasks: [id] } };
    const asked = await call(served, 'POST /tasks/delete', request);
    expect(JSON.parse(asked.body)).toMatchObject({
      status: 428,
      code: 'needs_confirmation',
      detail: expect.stringContaining('send the header "Confirm: task.delete"') as string,
      undo: expect.stringContaining('copse undo --worktree') as string,
    });
    const wrong = await call(served, 'POST /tasks/delete', {
      ...request,
      headers: { confirm: 'task.cancel' },
    });
    expect(wrong.status).toBe(428);
    expect((await call(served, `GET /tasks/${id}`)).status).toBe(200);
    const done = await call(served, 'POST /tasks/delete', {
      ...request,
      headers: { confirm: 'task.delete' },
    });
    expect(done).toMatchObject({ status: 200 });
    expect(done.headers['copse-undo']).toContain('copse undo --worktree');
    expect((await call(served, `GET /tasks/${id}`)).status).toBe(404);
  });
});

describe('the caller', () => {
  // promise: server-acts-as-person
  test('is the person who runs the server, also if that was started in the folder of a task', async () => {
    const { id } = await add('Taken');
    await answer(['work', id], { cwd });
    const { worktree } = await called<{ workspace: { worktree: string } }>(served, `GET /tasks/${id}`).then(
      ({ workspace }) => workspace,
    );
    const session = { COPSE_SESSION_ID: 'se-x', COPSE_TOKEN: '1', COPSE_TASK_ID: id, USER: 'ada' };
    await using inside = await serveRepository(worktree, session);
    const added = await called<TaskDocument>(inside, 'POST /tasks', { body: { title: 'From inside' } });
    const events = await served.board.events({ after: 0 as never, limit: 10_000 });
    expect(events.find(({ event }) => event.id === added.id)?.by).toEqual({ kind: 'person', name: 'ada' });
    expect(await called(inside, 'GET /status')).toMatchObject({ here: null });
  });

  // promise: server-acts-as-person
  test('has no route for what people may not do', () => {
    const forAgents = { ...operations[0], callers: ['session'] } as Operation;
    expect(operationRoutes([forAgents])).toEqual([]);
  });
});

test('metrics count the calls of each operation by status', async () => {
  await using own = await serveRepository(newRepository(area));
  await called(own, 'POST /tasks', { body: { title: 'One' } });
  await call(own, 'POST /tasks', { body: {} });
  await call(own, 'GET /tasks', { token: false });
  await call(own, 'GET /tasks');
  await call(own, 'GET /tasks');
  const { body } = await ask(own, '/metrics');
  expect(body.split('\n')).toEqual(
    expect.arrayContaining([
      'copse_operations_total{operation="task.add",status="201"} 1',
      'copse_operations_total{operation="task.add",status="400"} 1',
      'copse_operations_total{operation="task.list",status="200"} 2',
      'copse_refused_requests_total 1',
    ]),
  );
});
