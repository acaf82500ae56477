/** The real programs accept the scripted model server: they do what it says, and tell it what they did. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { ModelRequest, Step } from '../../support/model-server/protocol.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { drop, fail, run, saidTo, say, using, write } from '../../support/model-server/steps.ts';
import { finished, git, newArea, newRepository } from '../../support/cli.ts';
import {
  commandOf,
  environmentFor,
  isInstalled,
  loadClaudeSdk,
  newHome,
  type ProgramName,
  removeHome,
} from './programs.ts';

const area = newArea();
const home = newHome();
let server: ModelServer;
let repository: string;
let sessions = 0;
let key: string;

beforeAll(async () => {
  server = await startModelServer();
});
afterAll(async () => {
  await server.close();
  removeHome(home);
});
beforeEach(() => {
  sessions += 1;
  key = `session-${sessions}`;
  repository = newRepository(area);
});

type Message = Readonly<Record<string, unknown>>;

/** Runs a program to its end and gives back the JSON lines that it printed. */
async function lines(name: ProgramName, argv: readonly string[]): Promise<readonly Message[]> {
  const [program, ...first] = commandOf(name);
  const env = environmentFor(name, server.url(key), home);
  const child = spawn(program, [...first, ...argv], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, stdout, stderr } = await finished(child);
  if (code !== 0) throw new Error(`${name} ended with ${code}\n${stdout}\n${stderr}`);
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Message);
}

async function sdk(prompt: string, options: Readonly<Record<string, unknown>>): Promise<readonly Message[]> {
  const { query } = await loadClaudeSdk();
  const env = environmentFor('claude', server.url(key), home);
  const messages: Message[] = [];
  const shared = {
    cwd: repository,
    env,
    permissionMode: 'acceptEdits',
    allowedTools: ['Bash'],
    settingSources: [],
  };
  for await (const message of query({ prompt, options: { ...shared, ...options } })) messages.push(message);
  return messages;
}

const COMMIT = `git add --all && git commit --quiet --message='by the agent' && echo committed it`;

function workSteps(): readonly Step[] {
  return [write(path.join(repository, 'hello.txt'), 'hello 林\n'), run(COMMIT), say('All is done.')];
}

function expectWorkDone(): void {
  expect(readFileSync(path.join(repository, 'hello.txt'), 'utf8')).toBe('hello 林\n');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('by the agent');
  expect(server.left(key)).toBe(0);
  const turns = server.turns(key);
  expect(turns).toHaveLength(3);
  expect(saidTo(turns[0]!)).toContain('write a greeting');
  expect(saidTo(turns[2]!)).toContain('committed it');
}

function lastTurn(): ModelRequest {
  return server.turns(key).at(-1)!;
}

/** The prompt, what was done and what was said before are all in the request. */
function expectEarlierConversation(): void {
  const told = saidTo(lastTurn());
  for (const text of [
    'write a greeting',
    'hello 林',
    'committed it',
    'All is done.',
    'and now the second part',
  ]) {
    expect(told).toContain(text);
  }
}

const CLAUDE = [
  '--output-format',
  'stream-json',
  '--verbose',
  '--permission-mode',
  'acceptEdits',
  '--allowedTools',
  'Bash',
];

test('Claude on the command line writes a file, commits it, ends, and is resumed with its conversation', async () => {
  server.script(key, workSteps());
  const messages = await lines('claude', ['-p', 'write a greeting', ...CLAUDE]);
  expectWorkDone();
  const result = messages.at(-1)!;
  expect(result).toMatchObject({ type: 'result', is_error: false, result: 'All is done.' });
  await lines('claude', [
    '-p',
    'and now the second part',
    '--resume',
    String(result['session_id']),
    ...CLAUDE,
  ]);
  expectEarlierConversation();
});

test('Claude through its SDK writes a file, commits it, ends, and is resumed with its conversation', async () => {
  server.script(key, workSteps());
  const result = (await sdk('write a greeting', {})).at(-1)!;
  expectWorkDone();
  expect(result).toMatchObject({ type: 'result', is_error: false, result: 'All is done.' });
  await sdk('and now the second part', { resume: result['session_id'] });
  expectEarlierConversation();
});

test('Codex writes a file, commits it, ends, and is resumed with its conversation', async () => {
  server.script(key, workSteps());
  const argv = ['exec', '--json', '--dangerously-bypass-approvals-and-sandbox'];
  const messages = await lines('codex', [...argv, 'write a greeting']);
  expectWorkDone();
  const thread = messages.find(({ type }) => type === 'thread.started')!;
  expect(messages.at(-1)).toMatchObject({ type: 'turn.completed' });
  await lines('codex', [...argv, 'resume', String(thread['thread_id']), 'and now the second part']);
  expectEarlierConversation();
});

test('Claude tries again after a rate limit and after a stream that breaks off', async () => {
  server.script(key, [fail(429, { retryAfterSeconds: 1 }), drop(say('lost')), say('Here I am.')]);
  const messages = await lines('claude', ['-p', 'say something', ...CLAUDE]);
  expect(messages).toContainEqual(
    expect.objectContaining({ type: 'system', subtype: 'api_retry', error_status: 429 }),
  );
  expect(messages.at(-1)).toMatchObject({ is_error: false, result: 'Here I am.' });
});

test('Codex tries again after a failing server and after a stream that breaks off', async () => {
  server.script(key, [fail(503), drop(say('lost')), say('Here I am.')]);
  const messages = await lines('codex', ['exec', '--json', 'say something']);
  expect(messages).toContainEqual(
    expect.objectContaining({ item: expect.objectContaining({ type: 'agent_message', text: 'Here I am.' }) }),
  );
});

test('Claude and Codex report the tokens of the script', async () => {
  const usage = { input: 1200, output: 34, cacheRead: 5600 };
  server.script(key, [using(usage, say('one'))]);
  const claude = await lines('claude', ['-p', 'say something', ...CLAUDE]);
  expect(claude.at(-1)).toMatchObject({
    usage: { input_tokens: 1200, output_tokens: 34, cache_read_input_tokens: 5600 },
  });
  server.script(key, [using(usage, say('two'))]);
  const codex = await lines('codex', ['exec', '--json', 'say something']);
  expect(codex.at(-1)).toMatchObject({
    usage: { input_tokens: 6800, output_tokens: 34, cached_input_tokens: 5600 },
  });
});

test.each(['claude-acp', 'codex-acp'] as const)(
  '%s, with the pinned program, writes a file and ends',
  async (name) => {
    // Codex has its sandbox on here, in which it cannot commit.
    server.script(key, [write(path.join(repository, 'hello.txt'), 'hello 林\n'), say('All is done.')]);
    const client = startClient(name);
    try {
      await client.ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
      const session = await client.ask('session/new', { cwd: repository, mcpServers: [] });
      const prompt = [{ type: 'text', text: 'write a greeting' }];
      const answer = await client.ask('session/prompt', { sessionId: session['sessionId'], prompt });
      expect(answer).toMatchObject({ stopReason: 'end_turn' });
      expect(readFileSync(path.join(repository, 'hello.txt'), 'utf8')).toBe('hello 林\n');
      expect(server.turns(key)).toHaveLength(2);
      expect(saidTo(server.turns(key)[0]!)).toContain('write a greeting');
    } finally {
      client.stop();
    }
  },
);

/** As little of the Agent Client Protocol as a prompt takes: every permission is given. */
function startClient(name: ProgramName) {
  const [program, ...first] = commandOf(name);
  const env = environmentFor(name, server.url(key), home);
  const child = spawn(program, first, { cwd: repository, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const asked = new Map<number, (message: Message) => void>();
  const send = (message: Message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message['method'] === undefined) asked.get(message['id'] as number)?.(message);
    else if (message['method'] === 'session/request_permission') {
      const { options } = message['params'] as { options: readonly { kind: string; optionId: string }[] };
      const { optionId } = options.find(({ kind }) => kind === 'allow_once')!;
      send({ id: message['id'], result: { outcome: { outcome: 'selected', optionId } } });
    }
  });
  return {
    async ask(method: string, params: Message): Promise<Message> {
      const id = asked.size;
      const answer = new Promise<Message>((resolve) => asked.set(id, resolve));
      send({ id, method, params });
      const { result, error } = await answer;
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result as Message;
    },
    stop: () => child.kill(),
  };
}

test('Claude and Codex connect to nothing but their model', () => {
  expect(server.turns('session-1').length).toBeGreaterThan(0);
  expect(server.outside()).toEqual([]);
});

test.skipIf(!isInstalled('gemini'))('Gemini writes a file, commits it and ends', async () => {
  server.script(key, workSteps());
  const argv = ['-p', 'write a greeting', '-o', 'stream-json', '--approval-mode', 'yolo'];
  const messages = await lines('gemini', argv);
  expectWorkDone();
  expect(messages.at(-1)).toMatchObject({ type: 'result', status: 'success' });
});

test.skipIf(!isInstalled('opencode'))('opencode writes a file, commits it and ends', async () => {
  server.script(key, workSteps());
  const messages = await lines('opencode', ['run', '--format', 'json', 'write a greeting']);
  expectWorkDone();
  expect(messages.at(-1)).toMatchObject({ type: 'step_finish' });
});
