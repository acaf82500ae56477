/** The scripted model server's side of the four protocols, asked by plain fetch; the real programs are asked elsewhere. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { Step } from '../../support/model-server/protocol.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import {
  after,
  call,
  drop,
  fail,
  run,
  saidTo,
  say,
  together,
  using,
  write,
} from '../../support/model-server/steps.ts';

let server: ModelServer;
let sessions = 0;
let key: string;

beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  sessions += 1;
  key = `session-${sessions}`;
});

type Json = Readonly<Record<string, unknown>>;

/** How each protocol is asked, with the tools that its program offers. */
const QUESTIONS = {
  anthropic: {
    path: '/v1/messages?beta=true',
    tools: [{ name: 'Bash' }, { name: 'Write' }, { name: 'mcp__copse__done' }],
    body: { system: [{ type: 'text', text: 'be good' }], messages: [{ role: 'user', content: 'hi 林' }] },
  },
  responses: {
    path: '/v1/responses',
    tools: [
      { type: 'function', name: 'exec_command' },
      { type: 'custom', name: 'apply_patch' },
      { type: 'namespace', name: 'copse', tools: [{ type: 'function', name: 'done' }] },
      { type: 'web_search' },
    ],
    body: {
      instructions: 'be good',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi 林' }] }],
    },
  },
  chat: {
    path: '/v1/chat/completions',
    tools: ['bash', 'write', 'copse__done'].map((name) => ({ type: 'function', function: { name } })),
    body: {
      messages: [
        { role: 'system', content: 'be good' },
        { role: 'user', content: 'hi 林' },
      ],
    },
  },
  gemini: {
    path: '/v1beta/models/gemini-x:streamGenerateContent?alt=sse',
    tools: [
      {
        functionDeclarations: [
          { name: 'run_shell_command' },
          { name: 'write_file' },
          { name: 'mcp__copse__done' },
        ],
      },
    ],
    body: {
      systemInstruction: { parts: [{ text: 'be good' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi 林' }] }],
    },
  },
} as const;

type Name = keyof typeof QUESTIONS;
const NAMES = Object.keys(QUESTIONS) as readonly Name[];

function post(name: Name, changes: Json = {}, path: string = QUESTIONS[name].path): Promise<Response> {
  const { tools, body } = QUESTIONS[name];
  const whole = { model: 'm', stream: true, tools, ...body, ...changes };
  return fetch(server.url(key) + path, { method: 'POST', body: JSON.stringify(whole) });
}

/** The data of every event of an answer, in order. */
async function events(name: Name, ...steps: readonly Step[]): Promise<readonly Json[]> {
  server.script(key, steps);
  return parsed(await (await post(name)).text());
}

function parsed(stream: string): readonly Json[] {
  const data = stream.split('\n').filter((line) => line.startsWith('data: {'));
  return data.map((line) => JSON.parse(line.slice('data: '.length)) as Json);
}

function types(stream: readonly Json[]): readonly unknown[] {
  return stream.map(({ type }) => type);
}

const usage = { input: 7, output: 3, cacheRead: 2, cacheWrite: 1 };

describe('a stream', () => {
  test('of Anthropic opens, fills and closes every block between the message’s start and stop', async () => {
    const stream = await events('anthropic', using(usage, together(say('now'), run('ls'))));
    const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
    expect(types(stream)).toEqual(['message_start', ...block, ...block, 'message_delta', 'message_stop']);
    expect(stream[0]).toMatchObject({
      message: {
        role: 'assistant',
        content: [],
        usage: { input_tokens: 7, cache_read_input_tokens: 2, cache_creation_input_tokens: 1 },
      },
    });
    expect(stream[2]).toMatchObject({ index: 0, delta: { type: 'text_delta', text: 'now' } });
    expect(stream[4]).toMatchObject({
      index: 1,
      content_block: { type: 'tool_use', name: 'Bash', input: {} },
    });
    const { partial_json: input } = stream[5]!['delta'] as { partial_json: string };
    expect(JSON.parse(input)).toMatchObject({ command: 'ls' });
    expect(stream[7]).toMatchObject({ delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } });
  });

  test('of Responses adds and finishes every item, then completes with the usage', async () => {
    const stream = await events(
      'responses',
      using(usage, together(say('now'), run('ls'), write('a', 'x\ny\n'))),
    );
    const item = ['response.output_item.added', 'response.output_item.done'];
    expect(types(stream)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.output_text.delta',
      'response.output_item.done',
      ...item,
      ...item,
      'response.completed',
    ]);
    expect(stream[3]).toMatchObject({ item: { type: 'message', content: [{ text: 'now' }] } });
    const { arguments: input, ...command } = stream[5]!['item'] as Json;
    expect(command).toMatchObject({ type: 'function_call', name: 'exec_command' });
    expect(JSON.parse(input as string)).toMatchObject({ cmd: 'ls' });
    expect(stream[7]).toMatchObject({
      item: {
        type: 'custom_tool_call',
        name: 'apply_patch',
        input: '*** Begin Patch\n*** Add File: a\n+x\n+y\n*** End Patch\n',
      },
    });
    expect(stream[8]).toMatchObject({
      response: {
        status: 'completed',
        usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 2 }, output_tokens: 3 },
      },
    });
  });

  test('of chat completions ends with the reason, the usage and [DONE]', async () => {
    server.script(key, [using(usage, together(say('now'), run('ls')))]);
    const text = await (await post('chat')).text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const stream = parsed(text);
    const deltas = stream.slice(0, 3).map(({ choices }) => (choices as readonly Json[])[0]);
    expect(deltas).toMatchObject([
      { delta: { role: 'assistant', content: 'now' }, finish_reason: null },
      { delta: { tool_calls: [{ index: 0, type: 'function', function: { name: 'bash' } }] } },
      { delta: {}, finish_reason: 'tool_calls' },
    ]);
    expect(stream[3]).toMatchObject({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 3 } });
    expect(stream).toHaveLength(4);
  });

  test('of Gemini carries a part each, and last the reason and the usage', async () => {
    const stream = await events('gemini', using(usage, together(say('now'), run('ls'))));
    const content = (...parts: readonly Json[]) => ({ content: { role: 'model', parts } });
    expect(stream).toMatchObject([
      { candidates: [content({ text: 'now' })] },
      { candidates: [content({ functionCall: { name: 'run_shell_command', args: { command: 'ls' } } })] },
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 10, cachedContentTokenCount: 2, candidatesTokenCount: 3 },
      },
    ]);
    expect(stream).toHaveLength(3);
  });
});

test('an answer that is not streamed is one document with the same content', async () => {
  server.script(
    key,
    Array.from({ length: 4 }, () => together(say('now'), run('ls'))),
  );
  const whole = async (name: Name, path?: string) => (await post(name, { stream: false }, path)).json();
  expect(await whole('anthropic')).toMatchObject({
    content: [
      { type: 'text', text: 'now' },
      { type: 'tool_use', name: 'Bash', input: { command: 'ls' } },
    ],
    stop_reason: 'tool_use',
  });
  expect(await whole('responses')).toMatchObject({
    output: [{ type: 'message' }, { type: 'function_call', name: 'exec_command' }],
  });
  expect(await whole('chat')).toMatchObject({
    choices: [
      {
        message: { content: 'now', tool_calls: [{ function: { name: 'bash' } }] },
        finish_reason: 'tool_calls',
      },
    ],
  });
  expect(await whole('gemini', '/v1beta/models/gemini-x:generateContent')).toMatchObject({
    candidates: [{ content: { parts: [{ text: 'now' }, { functionCall: {} }] }, finishReason: 'STOP' }],
  });
});

describe.each(NAMES)('%s', (name) => {
  test('gives an error its status, its headers and the vendor’s form', async () => {
    server.script(key, [fail(429, { retryAfterSeconds: 8, message: 'slow down' }), fail(500), fail(400)]);
    const limited = await post(name);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '8']);
    expect(await limited.json()).toMatchObject({ error: { message: 'slow down' } });
    expect((await post(name)).status).toBe(500);
    const bad = await post(name);
    expect([bad.status, bad.headers.get('retry-after')]).toEqual([400, null]);
  });

  test('breaks a dropped stream off after its beginning', async () => {
    server.script(key, [drop(say('lost')), say('kept')]);
    const broken = await post(name);
    expect(broken.status).toBe(200);
    let received = '';
    const decoder = new TextDecoder();
    await expect(async () => {
      for await (const bytes of broken.body as AsyncIterable<Uint8Array>) {
        received += decoder.decode(bytes, { stream: true });
      }
    }).rejects.toThrow('terminated');
    expect(parsed(received).length).toBeGreaterThan(0);
    const kept = parsed(await (await post(name)).text());
    expect(parsed(received).length).toBeLessThan(kept.length);
    expect(JSON.stringify(kept)).toContain('kept');
  });

  test('answers a request without tools, and takes no step', async () => {
    server.script(key, [say('the step')]);
    expect(await (await post(name, { tools: [] })).text()).not.toContain('the step');
    expect(await (await post(name, { tools: undefined })).text()).not.toContain('the step');
    expect(server.left(key)).toBe(1);
    expect(await (await post(name)).text()).toContain('the step');
    expect(server.requests(key).map(({ kind }) => kind)).toEqual(['aside', 'aside', 'turn']);
    expect(server.turns(key)).toHaveLength(1);
  });

  test('ends the turn at the end of the script', async () => {
    const stream = JSON.stringify(await events(name));
    expect(stream).toContain('Done.');
    expect(stream).not.toMatch(/tool_use|function_call|tool_calls|functionCall/);
  });

  test('records what the model was told, its instructions first', async () => {
    await events(name);
    const [request] = server.turns(key);
    expect(request).toMatchObject({ protocol: name, method: 'POST', path: QUESTIONS[name].path });
    expect(saidTo(request!)).toMatch(/^be good\nhi 林$/);
  });

  test('finds a tool of an MCP server by its own name', async () => {
    const stream = JSON.stringify(await events(name, call('done', { note: 'x' })));
    const expected = {
      anthropic: '"name":"mcp__copse__done"',
      responses: '"name":"done","namespace":"copse"',
      chat: '"name":"copse__done"',
      gemini: '"name":"mcp__copse__done"',
    };
    expect(stream).toContain(expected[name]);
  });

  test('tells the program when a step cannot be taken with the tools it offers', async () => {
    server.script(key, [run('ls')]);
    const unable = await post(name, { tools: QUESTIONS[name].tools.slice(1) });
    // Gemini offers all of its tools in one entry, so none are left and nothing is asked of the script.
    if (name === 'gemini') expect([unable.status, server.left(key)]).toEqual([200, 1]);
    else
      expect(await unable.json()).toMatchObject({
        error: { message: expect.stringContaining('offers none') },
      });
  });
});

test('every session has a script and a record of its own', async () => {
  const other = `${key}-other`;
  server.script(key, [say('mine')]);
  server.script(other, [say('theirs')]);
  expect(await (await post('anthropic')).text()).toContain('mine');
  expect([server.left(key), server.left(other)]).toEqual([0, 1]);
  expect([server.turns(key).length, server.turns(other).length]).toEqual([1, 0]);
  key = other;
  expect(await (await post('responses')).text()).toContain('theirs');
});

test('a step may depend on the request', async () => {
  let release = (_text: string): void => {};
  const released = new Promise<string>((resolve) => (release = resolve));
  server.script(key, [async (request) => say(`${saidTo(request)}, ${await released}`)]);
  const answer = post('anthropic').then((response) => response.text());
  release('at last');
  expect(await answer).toContain('hi 林, at last');
});

test('a delayed answer does not keep the server from closing', async () => {
  const own = await startModelServer();
  own.script('late', [after(3_600_000, say('too late'))]);
  const asked = fetch(`${own.url('late')}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ stream: true, tools: [{ name: 'Bash' }] }),
  }).then(
    () => 'answered',
    () => 'refused',
  );
  await expect.poll(() => own.left('late')).toBe(0);
  await own.close();
  expect(await asked).toBe('refused');
});

test('Claude’s side requests are answered outside the script', async () => {
  server.script(key, [say('the step')]);
  expect((await fetch(server.url(key), { method: 'HEAD' })).status).toBe(200);
  const counted = await post('anthropic', {}, '/v1/messages/count_tokens?beta=true');
  expect(((await counted.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(10);
  expect((await fetch(`${server.url(key)}/v1/nothing`)).status).toBe(404);
  expect(server.requests(key).map(({ kind }) => kind)).toEqual(['other', 'other', 'other']);
  expect(server.left(key)).toBe(1);
});
