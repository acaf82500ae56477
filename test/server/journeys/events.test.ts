/** Clients that follow the board end with exactly its events, whatever happens to their connections. */

import { type ClientRequest, type IncomingMessage, request } from 'node:http';

import { describe, expect, test } from 'vitest';

import { over } from '../../../packages/copse/src/board/over.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { type EventNumber, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { Policy } from '../../../packages/copse/src/kernel/policy.ts';
import { eventView, taskView } from '../../../packages/copse/src/operations/views/views.ts';
import { act as listEvents } from '../../../packages/copse/src/operations/board/events.ts';
import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { openServer } from '../../../packages/copse/src/server/server.ts';
import { engines } from '../../support/board/boards.ts';
import { answer, copse, newArea, newRepository, plainEnv } from '../../support/cli.ts';
import { newTask } from '../../support/records/tasks.ts';
import { type Served, ask, newServed, openSocket, sendRaw, ticketOf } from '../../support/server/served.ts';

const area = newArea();

/** A client of Server-Sent Events, as an integrator would write one. */
class Following {
  readonly events: string[] = [];
  readonly others: string[] = [];
  id = '';
  type: string | undefined;
  #sent: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  readonly #served: Pick<Served, 'port' | 'server'>;

  constructor(served: Pick<Served, 'port' | 'server'>) {
    this.#served = served;
  }

  /** Resolves when it is connected. */
  connect(after: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const { port, server } = this.#served;
    const authorization = `Bearer ${server.keys.token}`;
    const path = `/api/v1/events${after === '' ? '' : `?after=${after}`}`;
    return new Promise((resolve, reject) => {
      this.#sent = request(
        { host: '127.0.0.1', port, path, headers: { authorization, ...headers }, agent: false },
        (response) => {
          this.#response = response;
          this.type = response.headers['content-type'];
          let text = '';
          response.setEncoding('utf8').on('data', (more: string) => {
            text += more;
            const blocks = text.split('\n\n');
            text = blocks.pop() ?? '';
            for (const block of blocks) this.#take(block);
          });
          response.on('error', () => {});
          resolve();
        },
      );
      this.#sent.on('error', reject);
      this.#sent.end();
    });
  }

  #take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    this.id = fields.get('id') ?? this.id;
    const data = fields.get('data');
    if (data === undefined) return;
    const event = fields.get('event');
    (event === undefined ? this.events : this.others).push(data);
  }

  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  get isClosed(): Promise<void> {
    return new Promise((resolve) => this.#response?.once('close', () => resolve()));
  }

  cut(): void {
    this.#sent?.destroy();
  }
}

async function eventsOf(board: Board): Promise<readonly string[]> {
  const recorded = await board.events({ after: brand<EventNumber>(0), limit: 10_000 });
  return recorded.map((one) => JSON.stringify({ cursor: `1:${one.number}`, ...eventView(one) }));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

// promise: server-events
test('two streams and a WebSocket end with the events that the command line wrote; one is cut and resumes', async () => {
  const cwd = newRepository(area);
  await copse(['add', 'Before'], { cwd });
  const context = await openContext({ cwd, env: plainEnv });
  const server = await openServer({
    version: '0.0.0',
    ...context,
    receive: () => Promise.reject(new Error('no triggers')),
    withAccess: () => Promise.reject(new Error('no operations')),
    webFolder: '/nowhere',
    host: '127.0.0.1',
    port: 0,
    tls: null,
    names: ['127.0.0.1'],
    proxied: [],
    onProblem: () => {},
  });
  const served = { server, port: server.port, board: context.board, problems: [] } as unknown as Served;
  const [whole, cut] = [new Following(served), new Following(served)];
  await Promise.all([whole.connect('0'), cut.connect('0')]);
  const socket = await openSocket(served, `?ticket=${await ticketOf(served)}&after=0`);
  if (socket.kind !== 'open') throw new Error('The WebSocket was refused');
  await until(() => cut.events.length > 0);
  cut.cut();
  const { id } = await answer<{ id: string }>(['add', 'While one is away'], { cwd });
  await answer(['edit', id, '--priority', 'p5'], { cwd });
  // As a browser does: the address of before, and the last id.
  await cut.connect('0', { 'last-event-id': cut.id });
  await answer(['cancel', id], { cwd });
  const all = await eventsOf(context.board);
  await until(() => [whole.events, cut.events, socket.frames].every((one) => one.length >= all.length));
  expect(all.length).toBeGreaterThan(3);
  expect(whole.type).toBe('text/event-stream');
  expect(whole.events).toEqual(all);
  expect(cut.events).toEqual(all);
  expect(socket.frames).toEqual(all);
  const told = new Promise<number>((resolve) => socket.socket.once('close', resolve));
  const ended = whole.isClosed;
  const began = performance.now();
  await server.close();
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(await told).toBe(1001);
  await ended;
  await context.board.close();
});

describe.each(engines)('the tasks on %s', (engine) => {
  // promise: server-events
  test('come with the event number at which they are true; the same number is not sent again', async () => {
    await using served = await newServed({ engine });
    const { board } = served;
    await newTask(board, { title: 'One' });
    const first = await ask(served, '/api/v1/snapshot');
    const { at, tasks } = JSON.parse(first.body) as { at: number; tasks: { title: string }[] };
    expect(at).toBe(await board.lastEvent());
    const views = (await board.tasks({ order: 'urgent' })).map((task) => taskView(task));
    expect(tasks).toEqual(JSON.parse(JSON.stringify(views)));
    const etag = String(first.headers.etag);
    const again = await ask(served, '/api/v1/snapshot', { headers: { 'if-none-match': `"x", ${etag}` } });
    expect(again).toMatchObject({ status: 304, body: '' });
    await newTask(board, { title: 'Two' });
    const later = await ask(served, '/api/v1/snapshot', { headers: { 'if-none-match': etag } });
    expect(later.status).toBe(200);
    expect((JSON.parse(later.body) as { tasks: unknown[] }).tasks).toHaveLength(2);
  });

  // promise: server-events
  test('and the events after that number are the whole board, also while others write', async () => {
    await using served = await newServed({ engine });
    const { board } = served;
    const writing = (async () => {
      for (let count = 0; count < 30; count += 1) await newTask(board, { title: `Task ${count}` });
    })();
    for (let round = 0; round < 5; round += 1) {
      const { body } = await ask(served, '/api/v1/snapshot');
      const { at, tasks } = JSON.parse(body) as { at: number; tasks: { id: string }[] };
      const recorded = await board.events({ after: brand<EventNumber>(0), limit: at });
      const created = recorded.flatMap(({ event }) => (event.type === 'task.created' ? [event.id] : []));
      expect(tasks.map(({ id }) => id).toSorted()).toEqual([...created].toSorted());
    }
    await writing;
  });
});

test('a cursor that is none is refused, and one beyond the end is told to be lost', async () => {
  await using served = await newServed();
  await newTask(served.board, { title: 'One' });
  const last = await served.board.lastEvent();
  expect(await ask(served, '/api/v1/events?after=x')).toMatchObject({ status: 400 });
  const beyond = new Following(served);
  await beyond.connect(`${last + 5}`);
  await until(() => beyond.others.length > 0);
  expect(beyond.others).toEqual([JSON.stringify({ lost: { term: 1, from: last + 1, to: last + 5 } })]);
  await newTask(served.board, { title: 'Two' });
  await until(() => beyond.events.length > 0);
  expect(beyond.id.startsWith('1:')).toBe(true);
  beyond.cut();
});

// promise: server-events
test('when the board’s server was replaced, clients are told what is lost, and get the new events', async () => {
  let terms = [{ term: 1, after: 0, at: timestamp(0) }];
  await using served = await newServed({
    board: (board) =>
      new Proxy(board, {
        get(target, name) {
          if (name === 'terms') return () => Promise.resolve(terms);
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      }),
  });
  await newTask(served.board, { title: 'One' });
  await newTask(served.board, { title: 'Two' });
  const last = await served.board.lastEvent();
  const client = new Following(served);
  await client.connect('0');
  await until(() => client.events.length === last);
  const read = async (path: string) => JSON.parse((await ask(served, path)).body) as { cursor: string };
  const [tasks, records] = [await read('/api/v1/snapshot'), await read('/api/v1/snapshot/records')];
  expect([tasks.cursor, records.cursor]).toEqual([`1:${last}`, `1:${last}`]);
  terms = [...terms, { term: 2, after: last - 1, at: timestamp(0) }];
  await newTask(served.board, { title: 'Three' });
  await until(() => client.others.length > 0 && client.id === `2:${last + 1}`);
  const isTold = expect.stringContaining(`"lost":{"term":2,"from":${last},`);
  expect(client.others[0]).toEqual(isTold);
  client.cut();
  // What was read before, too, is of a board that lost its end.
  const late = new Following(served);
  await late.connect(tasks.cursor);
  await until(() => late.id === `2:${last + 1}`);
  expect(late.others[0]).toEqual(isTold);
  late.cut();
});

// promise: server-events
test('a client that does not read is told that it is slow, and catches up by number', async () => {
  await using served = await newServed({ limits: { slowMs: 100, farewellMs: 60_000 } });
  const body = 'x'.repeat(60_000);
  const slow = new Following(served);
  await slow.connect('0');
  slow.pause();
  const socket = await openSocket(served, `?ticket=${await ticketOf(served)}&after=0`);
  if (socket.kind !== 'open') throw new Error('The WebSocket was refused');
  socket.socket.pause();
  const metrics = async () => (await ask(served, '/metrics')).body;
  // Until the buffers of the system are full.
  while (!(await metrics()).includes('copse_slow_clients_total 2'))
    for (let count = 0; count < 10; count += 1) await newTask(served.board, { title: 'Large', body });
  while (!(await metrics()).includes('copse_streams 0')) await new Promise((go) => setTimeout(go, 20));
  const code = new Promise<number>((resolve) => socket.socket.once('close', resolve));
  socket.socket.resume();
  slow.resume();
  await until(() => slow.others.length > 0);
  expect({ others: slow.others, code: await code }).toEqual({ others: ['{"slow":true}'], code: 4008 });
  const all = await eventsOf(served.board);
  const [, from] = slow.id.split(':');
  expect(Number(from ?? 0)).toBeLessThan(all.length);
  const again = new Following(served);
  await again.connect(slow.id === '' ? '0' : slow.id);
  await until(() => Number(from ?? 0) + again.events.length >= all.length);
  expect([...slow.events, ...again.events]).toEqual(all);
  again.cut();
  socket.socket.terminate();
});

// promise: server-events
test('large events are kept, read and told a few at a time, and none is missing', async () => {
  const pages: number[] = [];
  await using served = await newServed({
    limits: { recentBytes: 500_000, batchBytes: 300_000 },
    board: (board) =>
      over(board, {
        async eventPage(query) {
          const page = await board.eventPage(query);
          if (query.mostBytes === 300_000) pages.push(JSON.stringify(page.events).length);
          return page;
        },
      }),
  });
  const body = 'x'.repeat(200_000);
  const count = 25;
  for (let made = 0; made < count; made += 1) await newTask(served.board, { title: 'Large', body });
  const client = new Following(served);
  await client.connect('0');
  await until(() => client.events.length >= count);
  expect(client.events).toEqual(await eventsOf(served.board));
  client.cut();
  // Two of them, because the first one is smaller than the limit.
  expect(Math.max(...pages)).toBeLessThan(410_000);
  const access = {
    board: (work: (context: never) => Promise<never>) => work({ board: served.board } as never),
  };
  const listed = await listEvents(access as never, { limit: 1_000 });
  expect(listed).toMatchObject({ hasMore: true, cursor: { number: listed.events.length } });
  expect(JSON.stringify(listed.events).length).toBeLessThan(4_600_000);
});

test('signs of life come when nothing happens; a WebSocket that does not answer is closed', async () => {
  await using served = await newServed({ limits: { heartbeatMs: 40 } });
  const alive = await openSocket(served, `?ticket=${await ticketOf(served)}&after=0`);
  if (alive.kind !== 'open') throw new Error('The WebSocket was refused');
  await until(() => alive.frames.length > 3);
  expect(alive.frames[0]).toBe('{"at":"1:0"}');
  const closed = new Promise((resolve) => alive.socket.once('close', resolve));
  // It hears nothing any more, and so answers no ping.
  alive.socket.pause();
  while (!(await ask(served, '/metrics')).body.includes('copse_streams 0'))
    await new Promise((go) => setTimeout(go, 20));
  alive.socket.resume();
  await closed;
});

/** Once it is away, it answers no question about its last event. */
async function servedAway(limits: Partial<Policy['server']>) {
  const state = { isAway: false };
  const hang = (board: Board) => () => (state.isAway ? new Promise<never>(() => {}) : board.lastEvent());
  const served = await newServed({
    limits: { lastWorkMs: 100, ...limits },
    board: (board) => over(board, { lastEvent: hang(board) }),
  });
  state.isAway = true;
  return served;
}

async function upgrade(served: Served): Promise<ReturnType<typeof sendRaw>> {
  const lines = [
    `GET /api/v1/stream?ticket=${await ticketOf(served)} HTTP/1.1`,
    `Host: localhost:${served.port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  return sendRaw(served.port, `${lines.join('\r\n')}\r\n\r\n`);
}

test('while the board is away, streams that wait for it are told so', async () => {
  await using served = await servedAway({ headersMs: 300, requestMs: 300 });
  expect(await (await upgrade(served)).ended).toMatch(/^HTTP\/1\.1 503 [^]*"code":"late"/);
  expect(JSON.parse((await ask(served, '/api/v1/events')).body)).toMatchObject({ code: 'late' });
  expect(served.problems).toEqual([]);
});

test('a client that leaves before its WebSocket is open leaves no connection', async () => {
  await using served = await servedAway({});
  const opened = await Promise.all(Array.from({ length: 20 }, () => upgrade(served)));
  const connections = async () =>
    Number(/copse_connections (\d+)/.exec((await ask(served, '/metrics')).body)?.[1]);
  while ((await connections()) < 21) await new Promise((go) => setTimeout(go, 10));
  for (const [index, { socket }] of opened.entries()) {
    if (index % 2 === 0) socket.destroy();
    else socket.end();
  }
  while ((await connections()) > 1) await new Promise((go) => setTimeout(go, 10));
  expect(await connections()).toBe(1);
});

test('metrics are for Prometheus', async () => {
  await using served = await newServed();
  await newTask(served.board, { title: 'One' });
  const last = await served.board.lastEvent();
  const metrics = () => ask(served, '/metrics');
  while (!(await metrics()).body.includes(`copse_event_number ${last}`))
    await new Promise((go) => setTimeout(go, 10));
  const { body, headers } = await metrics();
  expect(headers['content-type']).toBe('text/plain; version=0.0.4');
  expect(body).toContain('# TYPE copse_tasks gauge\ncopse_tasks{status="pending"} 0\n');
  expect(body).toContain('copse_tasks{status="ready"} 1\n');
  expect(body).toMatch(/copse_connections \d+\n/);
  for (const line of body.trimEnd().split('\n'))
    expect(line).toMatch(/^(# (HELP|TYPE) copse_\w+ .+|copse_\w+(\{status="\w+"\})? \d+)$/);
});
