/** The registry's tools for the assistant of a person, with the protocol's own client, over stdio and over HTTP. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openFor } from '../../../packages/copse/src/library/opened.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { answer, cliFile, copse, newArea, newRepository, plainEnv, printed } from '../../support/cli.ts';
import { runnableCommands } from '../../support/command-tree.ts';
import { serveRepository } from '../../support/server/served-repository.ts';
import { type Served, ask } from '../../support/server/served.ts';

const area = newArea();
const cwd = newRepository(area);
let served: Served;
const clients = { stdio: newClient(), http: newClient() };
type Way = keyof typeof clients;

function newClient(): Client {
  return new Client({ name: 'test', version: '1' });
}

beforeAll(async () => {
  served = await serveRepository(cwd);
  await clients.stdio.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [cliFile, 'mcp', '--as', 'person'],
      cwd,
      env: plainEnv,
    }),
  );
  const headers = { authorization: `Bearer ${served.server.keys.token}` };
  const url = new URL(`http://127.0.0.1:${served.port}/mcp`);
  await clients.http.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
});

afterAll(async () => {
  await Promise.all([clients.stdio.close(), clients.http.close()]);
  await served[Symbol.asyncDispose]();
});

interface Said {
  readonly text: string;
  readonly isError: boolean;
}

async function call(way: Way, name: string, given: Record<string, unknown> = {}): Promise<Said> {
  const { content, isError = false } = await clients[way].callTool({ name, arguments: given });
  const [part] = content as readonly { readonly text: string }[];
  return { text: part?.text ?? '', isError: isError === true };
}

async function document<T>(way: Way, name: string, given: Record<string, unknown> = {}): Promise<T> {
  const { text, isError } = await call(way, name, given);
  if (isError) throw new Error(text);
  return JSON.parse(text) as T;
}

const added = (way: Way, title: string) => document<{ readonly id: string }>(way, 'task_add', { title });

test('every operation is a route, a tool over stdio and over HTTP, a method of the library, a command with --json, and in the OpenAPI document', async () => {
  const names = operations.map(({ name }) => name).toSorted();
  const library = await openFor({ cwd, env: plainEnv });
  const methods = Object.entries(library).flatMap(([group, inner]: [string, unknown]) =>
    typeof inner === 'object' ? Object.keys(inner as object).map((method) => `${group}.${method}`) : [],
  );
  await library.close();
  const spelt = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  expect(methods.map(spelt).toSorted()).toEqual(names);
  // A group of the registry must not hide one of these.
  expect(Object.keys(library)).toEqual(expect.arrayContaining(['cursor', 'events', 'close']));
  for (const client of Object.values(clients)) {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      names.map((name) => name.replace('.', '_')).toSorted(),
    );
  }
  const commands = runnableCommands();
  const { paths } = JSON.parse((await ask(served, '/api/v1/openapi.json')).body) as Described;
  for (const { name, command, http } of operations) {
    const { status, headers } = await ask(served, `/api/v1${http.path.replaceAll(/[{}]/g, '')}`, {
      method: 'OPTIONS',
    });
    expect({ name, status, allow: headers['allow']?.split(', ') }).toEqual({
      name,
      status: 405,
      allow: expect.arrayContaining([http.method]) as string[],
    });
    const described = paths[`/api/v1${http.path}`]?.[http.method.toLowerCase()]?.operationId;
    const options = commands.get(command)?.options.map(({ long }) => long);
    expect({ name, described, options }).toEqual({
      name,
      described: name,
      options: expect.arrayContaining(['--json']) as string[],
    });
  }
});

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

test('a tool says what the registry says, and takes what its shape accepts', async () => {
  const { tools } = await clients.http.listTools();
  expect((await clients.stdio.listTools()).tools).toEqual(tools);
  for (const { name, title, description = '', inputSchema, annotations } of tools) {
    const operation = operations.find((one) => one.name.replace('.', '_') === name);
    expect(name).toMatch(/^[a-z_]{1,64}$/);
    expect({ title, annotations }).toEqual({
      title: operation?.title,
      annotations: {
        title: operation?.title,
        readOnlyHint: operation?.effect === 'reads',
        destructiveHint: operation?.effect === 'destroys',
        idempotentHint: operation?.isRepeatable,
      },
    });
    expect(description.startsWith(operation?.description ?? '-')).toBe(true);
    expect(description).toContain(operation?.undo ?? '');
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(JSON.stringify(inputSchema)).not.toMatch(/"\$ref"|"\$defs"/);
    const { input } = (await operation?.shape()) ?? {};
    const fields = Object.keys((input as { shape?: object } | undefined)?.shape ?? {});
    const confirms = operation?.effect === 'destroys' ? ['confirm'] : [];
    expect(fields).not.toContain('confirm');
    expect(Object.keys(inputSchema.properties ?? {})).toEqual([...fields, ...confirms]);
  }
});

describe.each(['stdio', 'http'] as const)('over %s', (way) => {
  test('a call does what the command does, and answers with what it prints', async () => {
    const { id } = await added(way, `From ${way}`);
    await document(way, 'task_edit', { task: id, priority: 'p5' });
    expect(await document(way, 'task_show', { task: id })).toEqual(await answer(['show', id], { cwd }));
    expect(await document(way, 'inbox_list')).toMatchObject({ needsYou: [] });
  });

  test('a refusal is an error with the next command', async () => {
    expect(await call(way, 'task_show', { task: 'cp-none' })).toEqual({
      isError: true,
      text: 'The board has no task "cp-none".\n  → copse list',
    });
  });

  // promise: mcp-confirms
  test('what destroys is done only with a confirmation', async () => {
    const { id } = await added(way, 'Precious');
    for (const confirm of [undefined, true, 'yes', 'task.cancel', ['task.delete']]) {
      const { text, isError } = await call(way, 'task_delete', { tasks: [id], confirm });
      expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining('Nothing was done') });
    }
    expect(await answer(['show', id], { cwd })).toMatchObject({ status: 'ready' });
    const confirmed = { tasks: [id], confirm: 'task.delete' };
    expect(await document(way, 'task_delete', confirmed)).toMatchObject({ deleted: [{ id }] });
    // Of an operation that destroys nothing it is a field like any other.
    expect((await call(way, 'task_list', { confirm: 'task.list' })).isError).toBe(true);
  });

  test.each<[string, Record<string, unknown>]>([
    ['task_show', { task: 7 }],
    ['task_show', { task: null }],
    ['task_show', { task: { $ne: '' } }],
    ['task_show', { task: '' }],
    ['task_show', { task: '../../etc/passwd' }],
    ['task_show', { task: "'; drop table tasks; --" }],
    ['task_show', { task: 'x'.repeat(100_000) }],
    ['task_list', { limit: -1 }],
    ['task_list', { limit: 1e300 }],
    ['task_list', { status: ['ready', '\u0000'] }],
    ['task_list', { constructor: 'x' }],
    ['task_add', { title: ['x'] }],
    ['task_delete', { tasks: [], confirm: 'task.delete' }],
  ])('%s with the wrong input %# is refused and changes nothing', async (name, given) => {
    const before = await printed(['events', '--last', '1'], { cwd });
    const { text, isError } = await call(way, name, given);
    expect(isError).toBe(true);
    expect(text.length).toBeLessThan(2_000);
    expect(text).toContain('\n  → copse ');
    expect(await printed(['events', '--last', '1'], { cwd })).toEqual(before);
  });

  test('a prototype in the arguments has no effect', async () => {
    const given = JSON.parse('{"__proto__": {"limit": 1}}') as Record<string, unknown>;
    expect(await call(way, 'task_list', given)).toEqual(await call(way, 'task_list'));
  });

  test.each(['no_tool', 'task.add', 'constructor', '__proto__', 'finish'])('there is no %s', async (name) => {
    await expect(clients[way].callTool({ name, arguments: {} })).rejects.toThrow('There is no tool');
  });
});

describe('standard input', () => {
  const request = (id: unknown, method: string, params?: object) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) });

  test('with anything in it is answered or passed over, and the server ends with it', async () => {
    const lines = [
      'no json',
      '{"jsonrpc":"2.0"}',
      '[]',
      `[${request(1, 'tools/list')}]`,
      'null',
      '"text"',
      '{"id":{},"jsonrpc":"2.0","method":"ping"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}',
      '{"jsonrpc":"2.0","id":9,"result":{}}',
      '\u2028',
      'x'.repeat(17 * 1024 * 1024),
      request(2, 'no/method'),
      request(3, 'tools/call', { name: 'task_list', arguments: 'x' }),
      request(4, 'tools/call', { name: 'task_add', arguments: { title: 'One' } }),
      request(5, 'tools/call', { name: 'task_add', arguments: { title: 'Two' } }),
      request(6, 'ping'),
    ];
    const at = { cwd: newRepository(area) };
    const { code, stdout } = await copse(['mcp', '--as', 'person'], {
      ...at,
      stdin: `${lines.join('\n')}\n{`,
    });
    expect(code).toBe(0);
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: unknown; result?: object; error?: { code: number } });
    expect(answers.filter(({ id }) => id === null).length).toBe(8);
    expect(answers.filter(({ error }) => error).every(({ error }) => error!.code <= -32_600)).toBe(true);
    expect(answers.flatMap(({ id, result }) => (result ? [id] : [])).toSorted()).toEqual([4, 5, 6]);
    // In the order of arrival.
    const { tasks } = await answer<{ tasks: readonly { title: string }[] }>(['list'], at);
    expect(tasks.map(({ title }) => title)).toEqual(['One', 'Two']);
  });

  // promise: mcp-for-people
  test.each<[string, Record<string, string>]>([
    ['a session', { COPSE_SESSION_ID: 'se-1', COPSE_TOKEN: '1' }],
    ['a session without its token', { COPSE_SESSION_ID: 'se-1' }],
    ['a sandbox', { COPSE_SANDBOX: '1' }],
    ['a runner that asks for its agent', { COPSE_FOR_SESSION: '1' }],
  ])('of %s is refused', async (_, env) => {
    const stdin = `${request(1, 'tools/call', { name: 'task_add', arguments: { title: 'Mine' } })}\n`;
    const { code, stdout, stderr } = await copse(['mcp', '--as', 'person'], { cwd, env, stdin });
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('copse mcp --as person is for people');
  });

  test('as another than a person is refused', async () => {
    const { code, stderr } = await copse(['mcp', '--as', 'root'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('--as must be person, not "root".');
  });
});

// promise: server-entry
describe('POST /mcp', () => {
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const post = (asked: Parameters<typeof ask>[2]) =>
    ask(served, '/mcp', { method: 'POST', body: list, ...asked, headers: { ...headers, ...asked?.headers } });

  test('with the token is answered', async () => {
    const { status, body, headers } = await post({});
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
    expect(JSON.parse(body)).toMatchObject({ id: 1, result: { tools: expect.any(Array) as unknown } });
  });

  test.each<[string, Parameters<typeof ask>[2]]>([
    ['no token', { token: false }],
    ['another token', { token: 'A'.repeat(43) }],
    ['a name that was bound to this machine', { headers: { host: 'attacker.example' } }],
    ['a page of another port', { headers: { origin: 'http://127.0.0.1:1' } }],
    ['a page of another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['a page without a name', { headers: { origin: 'null' } }],
  ])('with %s gets the answer of every other path', async (_, asked) => {
    const { status, body } = await post(asked);
    const other = await ask(served, '/metrics', asked);
    expect({ status, body }).toEqual({ status: 401, body: other.body });
  });

  test.each<[string, Parameters<typeof ask>[2], number]>([
    ['a list of messages', { body: `[${list},${list}]` }, 400],
    ['no JSON', { body: '{' }, 400],
    ['bytes that are no text', { body: Buffer.from([0xff, 0xfe]) }, 400],
    ['no body', { body: '' }, 400],
    ['no message', { body: '{"a": 1}' }, 400],
    ['more than a megabyte', { body: `"${'x'.repeat(1_100_000)}"` }, 413],
    ['what a form can send', { headers: { 'content-type': 'text/plain' } }, 415],
    ['a client that reads no stream', { headers: { accept: 'application/json' } }, 406],
    ['a version of the protocol that does not exist', { headers: { 'mcp-protocol-version': '1999' } }, 400],
  ])('with %s is refused', async (_, asked, expected) => {
    expect((await post(asked)).status).toBe(expected);
    expect((await post({})).status).toBe(200);
  });

  test.each(['GET', 'DELETE', 'PUT'])('%s opens nothing', async (method) => {
    expect(await ask(served, '/mcp', { method })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  test('a notification has no answer, and a session is not kept', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(await post({ body })).toMatchObject({ status: 202, body: '' });
    const { status, headers } = await post({ headers: { 'mcp-session-id': 'stolen' } });
    expect({ status, session: headers['mcp-session-id'] }).toEqual({ status: 200, session: undefined });
  });
});
