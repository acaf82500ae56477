/** The tools of an agent, through the built program and the protocol: what it may say, about what, and what it survives. */

import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { afterEach, describe, expect, test } from 'vitest';

import { change } from '../../../packages/copse/src/board/context.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { decideCrash } from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import { type RunOptions, answer, copse, finished, git, newArea, startCopse } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { must } from '../../support/records/tasks.ts';
import { type Project, newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;

async function openNew(): Promise<Project> {
  projects += 1;
  return openForTest(newProject(path.join(area, `it's "projekt" ${projects}`)));
}

/** With something committed, so that it can finish. */
async function newSession() {
  const project = await openNew();
  const agent = await startSession(project, await project.addTask());
  commitIn(agent.worktree);
  return { project, ...agent };
}

function commitIn(worktree: string): void {
  writeFileSync(path.join(worktree, 'work.txt'), 'done\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: do it');
}

const reportFile = (worktree: string) => path.join(worktree, '.copse', 'session.json');
const reportIn = (worktree: string) =>
  JSON.parse(readFileSync(reportFile(worktree), 'utf8')) as Readonly<Record<string, unknown>>;

/** That it tried to finish is noted there, too. */
const isReported = (worktree: string) => existsSync(reportFile(worktree)) && 'status' in reportIn(worktree);

async function ledgerOf(project: Project, task: TaskId): Promise<readonly string[]> {
  return (await project.context.board.list('ledger', { task })).map(({ text }) => text);
}

interface Message {
  readonly id: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Everything that comes back is read as protocol: a line that is none fails the test. */
class Client {
  readonly #child: ChildProcess;
  readonly #ended: ReturnType<typeof finished>;
  readonly messages: Message[] = [];
  readonly #waiting: (() => void)[] = [];
  #rest = '';
  #lastId = 0;

  constructor(at: RunOptions) {
    this.#child = startCopse(['mcp'], at);
    this.#child.stdin!.on('error', () => {});
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop()!;
      for (const line of lines) this.messages.push(...[JSON.parse(line) as Message].flat());
      for (const look of this.#waiting.splice(0)) look();
    });
    this.#ended = finished(this.#child);
    void this.#ended.then(() => this.#waiting.splice(0).forEach((look) => look()));
  }

  send(...messages: readonly unknown[]): void {
    this.raw(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  }

  raw(bytes: string | Uint8Array): void {
    this.#child.stdin!.write(bytes);
  }

  async ask(method: string, params: unknown = {}): Promise<Message> {
    this.#lastId += 1;
    const id = `asked-${this.#lastId}`;
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.answerTo(id);
  }

  async answerTo(id: unknown, nth = 1): Promise<Message> {
    for (;;) {
      const found = this.messages.filter((message) => message.id === id)[nth - 1];
      if (found) return found;
      if (this.#child.exitCode !== null) throw new Error(`it ended before it answered ${String(id)}`);
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  async call(name: string, given?: unknown): Promise<{ readonly text: string; readonly isError: boolean }> {
    const { result, error } = await this.ask('tools/call', { name, arguments: given });
    if (error) throw new Error(`${name}: ${error.message}`);
    const { content, isError } = result as { content: { type: string; text: string }[]; isError: boolean };
    const [{ type, text } = { type: 'nothing', text: '' }, ...more] = content;
    if (type !== 'text' || more.length > 0) throw new Error(`${name} answered ${JSON.stringify(content)}`);
    return { text, isError };
  }

  /** It must exit on its own, with code 0 and complete messages. */
  async end(): Promise<void> {
    this.#child.stdin!.end();
    const { code, stderr } = await this.#ended;
    if (code !== 0 || stderr !== '' || this.#rest !== '')
      throw new Error(`it ended with ${code}: ${stderr}${this.#rest}`);
  }
}

const clients: Client[] = [];

function open(at: RunOptions): Client {
  const client = new Client(at);
  clients.push(client);
  return client;
}

afterEach(async () => {
  for (const client of clients.splice(0)) await client.end();
});

const callOf = (id: unknown, name: string, given: unknown) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: given },
});

describe('an agent', () => {
  test('is shown its tools, in the version of the protocol that it speaks', async () => {
    const { at } = await newSession();
    const client = open(at);
    for (const [asked, agreed] of [
      ['2025-06-18', '2025-06-18'],
      ['2024-11-05', '2024-11-05'],
      ['2099-01-01', '2025-11-25'],
      [undefined, '2025-11-25'],
    ]) {
      const { result } = await client.ask('initialize', { protocolVersion: asked, capabilities: {} });
      expect(result).toMatchObject({
        protocolVersion: agreed,
        capabilities: { tools: {} },
        serverInfo: { name: 'copse' },
      });
    }
    client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const { tools } = (await client.ask('tools/list')).result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual([
      'finish',
      'stuck',
      'phase',
      'heartbeat',
      'ledger_add',
      'artifact_add',
      'sync',
      'context',
    ]);
    expect(tools[4]).toMatchObject({
      inputSchema: {
        type: 'object',
        properties: {
          kind: { enum: ['learning', 'decision', 'handoff', 'crash'] },
          text: { type: 'string' },
        },
        required: ['kind', 'text'],
        additionalProperties: false,
      },
    });
  });

  test('reports by tools what it could report by commands', async () => {
    const { project, task, session, worktree, at } = await newSession();
    const client = open(at);
    expect(await client.call('phase', { phase: 'working' })).toEqual({
      text: `${task} is in phase working.`,
      isError: false,
    });
    expect((await client.call('ledger_add', { kind: 'learning', text: 'Mind\nthe "gap"' })).isError).toBe(
      false,
    );
    writeFileSync(path.join(worktree, '.copse/plot.txt'), 'x');
    const added = await client.call('artifact_add', { file_or_uri: '.copse/plot.txt', title: 'Plot' });
    expect(added).toMatchObject({
      isError: false,
      text: expect.stringContaining(`to ${task}: file plot.txt`) as string,
    });
    const outside = await client.call('artifact_add', { file_or_uri: '../../copse.yml' });
    expect(outside).toMatchObject({
      isError: true,
      text: expect.stringContaining('none of the folders') as string,
    });
    expect(await client.call('heartbeat')).toEqual({ text: `Renewed the lease of ${task}.`, isError: false });
    const { text, isError } = await client.call('finish', { summary: 'Did "it"', no_changes: null });
    expect({ text, isError }).toMatchObject({ isError: false });
    expect(text).toContain(`Reported ${task} as finished.\nStop now.`);
    expect(reportIn(worktree)).toMatchObject({ status: 'finished', summary: 'Did "it"' });
    const { board } = project.context;
    expect((await board.get('session', session))?.state).toMatchObject({ life: 'live', phase: 'working' });
    expect((await board.get('task', task))?.state.status).toBe('in_progress');
    expect(await board.list('artifact', { task })).toMatchObject([{ session, kind: 'file', title: 'Plot' }]);
    const [entry] = await board.list('ledger', { task });
    expect(entry).toMatchObject({ session, kind: 'learning', text: 'Mind\nthe "gap"' });
  });

  test('gets a refusal in the words of the command, and nothing is reported', async () => {
    const { task, worktree, at } = await newSession();
    const client = open(at);
    writeFileSync(path.join(worktree, 'left "over"'), '');
    for (const [name, given, argv] of [
      ['finish', {}, ['finish']],
      ['phase', { phase: 'dancing' }, ['phase', 'dancing']],
      ['ledger_add', { kind: 'poem', text: 'x' }, ['ledger', 'add', 'poem', 'x']],
      ['stuck', { reason: ' ' }, ['stuck', '--reason', ' ']],
    ] as const) {
      const { stderr } = await copse(argv, at);
      expect(await client.call(name, given)).toEqual({
        text: stderr.replace(/^copse: /, '').trimEnd(),
        isError: true,
      });
    }
    expect((await client.call('finish')).text).toContain(`${task} is not finished.`);
    expect(isReported(worktree)).toBe(false);
    rmSync(path.join(worktree, 'left "over"'));
    expect((await client.call('finish')).isError).toBe(false);
  });

  test('asks a person, in words', async () => {
    const { worktree, at } = await newSession();
    const client = open(at);
    expect(await client.call('stuck', { reason: '-' })).toMatchObject({ isError: true });
    expect(await client.call('ledger_add', { kind: 'learning', text: '-' })).toMatchObject({ isError: true });
    expect((await client.call('stuck')).text).toContain('stuck needs reason as a string.');
    expect(isReported(worktree)).toBe(false);
    expect((await client.call('stuck', { reason: 'Keep\nboth?' })).text).toContain(
      'Stop now and leave the worktree as it is.',
    );
    expect(reportIn(worktree)).toMatchObject({ status: 'stuck', reason: 'Keep\nboth?' });
  });

  test('reports that nothing had to be done', async () => {
    const project = await openNew();
    const { worktree, at } = await startSession(project, await project.addTask());
    const client = open(at);
    expect(await client.call('finish')).toMatchObject({ isError: true });
    expect(await client.call('finish', { no_changes: true })).toMatchObject({ isError: false });
    expect(reportIn(worktree)).toMatchObject({ status: 'finished', noChanges: true });
  });

  test('brings the newest base into its branch', async () => {
    const { project, worktree, at } = await newSession();
    writeFileSync(path.join(project.folder, 'work.txt'), 'theirs\n');
    git(project.folder, 'add', '--all');
    git(project.folder, 'commit', '--quiet', '--message=feat: theirs');
    const client = open(at);
    const before = git(worktree, 'rev-parse', 'HEAD');
    const refused = await client.call('sync');
    expect(refused).toMatchObject({ isError: true });
    expect(refused.text).toContain('work.txt');
    expect(git(worktree, 'rev-parse', 'HEAD')).toBe(before);
    expect(git(worktree, 'status', '--porcelain')).toBe('');
    expect(await client.call('sync', { conflict: true })).toMatchObject({ isError: false });
    expect(git(worktree, 'status', '--porcelain')).toBe('AA work.txt');
  });

  // promise: no-link-followed
  test('reads its context again, and not the target of a link in its place', async () => {
    const { task, worktree, at } = await newSession();
    const client = open(at);
    const file = path.join(worktree, 'AGENT_CONTEXT.md');
    rmSync(file, { force: true });
    expect(await client.call('context')).toMatchObject({ isError: true });
    writeFileSync(file, `# ${task}\nDo it.`);
    expect(await client.call('context')).toEqual({
      text: `${file}:\n\n# ${task}\nDo it.`,
      isError: false,
    });
    writeFileSync(file, 'ö'.repeat(100_000));
    const long = await client.call('context');
    expect(long.text.length).toBeLessThan(60_000);
    expect(long.text).toContain('read the rest there');
    const secret = path.join(area, 'secret');
    writeFileSync(secret, 'hush');
    rmSync(file);
    symlinkSync(secret, file);
    const linked = await client.call('context');
    expect(linked.isError).toBe(true);
    expect(linked.text).not.toContain('hush');
  });
});

describe('it is about its own task only', () => {
  // promise: own-task-only
  test('a task cannot be named, and unknown arguments are refused', async () => {
    const { project, task, at } = await newSession();
    const other = await project.addTask('Another');
    const client = open(at);
    for (const name of ['task', 'id']) {
      const refused = await client.call('ledger_add', { kind: 'learning', text: 'x', [name]: other });
      expect(refused.isError).toBe(true);
      expect(refused.text).toContain(`no argument "${name}"`);
    }
    expect(await client.call('heartbeat', JSON.parse('{ "__proto__": 1 }'))).toMatchObject({
      isError: true,
    });
    expect(await ledgerOf(project, other)).toEqual([]);
    expect(await ledgerOf(project, task)).toEqual([]);
  });

  test('the session decides which, wherever the agent program starts its servers', async () => {
    const { project, task, worktree, at } = await newSession();
    const other = await startSession(project, await project.addTask('Another'));
    commitIn(other.worktree);
    for (const cwd of [other.worktree, area, project.folder]) {
      const client = open({ ...at, cwd });
      expect((await client.call('ledger_add', { kind: 'learning', text: 'mine' })).text).toContain(task);
      expect((await client.call('sync')).text).toContain(task);
      expect((await client.call('finish')).text).toContain(task);
    }
    expect(await ledgerOf(project, task)).toHaveLength(3);
    expect(await ledgerOf(project, other.task)).toEqual([]);
    expect(isReported(other.worktree)).toBe(false);
    expect(reportIn(worktree)).toMatchObject({ status: 'finished' });
  });

  test('without a session it is the task of the worktree, and elsewhere there is none', async () => {
    const { project, task, worktree } = await newSession();
    const inside = open({ cwd: worktree });
    expect((await inside.call('ledger_add', { kind: 'decision', text: 'here' })).text).toContain(task);
    expect(await ledgerOf(project, task)).toEqual(['here']);
    for (const cwd of [project.folder, area]) {
      const outside = open({ cwd });
      for (const [name, given] of [
        ['finish', {}],
        ['ledger_add', { kind: 'decision', text: 'there' }],
        ['context', {}],
      ] as const) {
        const refused = await outside.call(name, given);
        expect(refused.isError).toBe(true);
        expect(refused.text).toMatch(/and .* is not one\.\n {2}→ |is not inside a git repository/);
      }
    }
    expect(await ledgerOf(project, task)).toEqual(['here']);
  });

  // promise: stale-token-fenced
  test('a session that lost the task cannot report for it', async () => {
    const { project, task, worktree, at } = await newSession();
    const client = open(at);
    expect((await client.call('heartbeat')).isError).toBe(false);
    const { context } = project;
    must(
      await change(context, async (change) => {
        const before = await change.require('task', task);
        const noWait = { ...context.policy.retry, firstBackoffMs: 0 };
        await change.apply(decideCrash(before, before.token, 'gone', change.at, noWait));
      }),
    );
    await startSession(project, task);
    for (const [name, given] of [
      ['heartbeat', {}],
      ['phase', { phase: 'working' }],
      ['ledger_add', { kind: 'learning', text: 'late' }],
      ['finish', {}],
      ['stuck', { reason: 'late' }],
    ] as const) {
      expect({ name, ...(await client.call(name, given)) }).toMatchObject({ isError: true });
    }
    expect(await ledgerOf(project, task)).toEqual([]);
    expect(isReported(worktree)).toBe(false);
  });
});

describe('the server', () => {
  test('continues after messages that it cannot parse', async () => {
    const { at } = await newSession();
    const client = open(at);
    const wrong: readonly (readonly [string, unknown, number])[] = [
      ['{"jsonrpc": "2.0", "id": 1', null, -32700],
      ['"text"', null, -32600],
      ['[]', null, -32600],
      ['{"id": 7}', 7, -32600],
      ['{"id": null, "method": "ping"}', null, -32600],
      ['{"id": {}, "method": "ping"}', null, -32600],
      ['{"id": 8, "method": "resources/list"}', 8, -32601],
      ['{"id": 9, "method": "toString"}', 9, -32601],
      ['{"id": 10, "method": "tools/call"}', 10, -32602],
      ['{"id": 11, "method": "tools/call", "params": {"name": "constructor"}}', 11, -32602],
      ['{"id": 12, "method": "tools/call", "params": {"name": "finish", "arguments": [1]}}', 12, -32602],
    ];
    client.raw('\n \r\n');
    for (const [line] of wrong) client.raw(`${line}\n`);
    // Notifications: no answer is expected.
    client.send(
      { jsonrpc: '2.0', method: 'notifications/unheard-of' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'unknown' } },
      { jsonrpc: '2.0', method: 'tools/call', params: { name: 'finish' } },
      { jsonrpc: '2.0', id: 13, result: {} },
    );
    expect((await client.ask('ping')).result).toEqual({});
    const told = client.messages.slice(0, -1).map(({ id, error }) => [id, error?.code]);
    expect(told).toEqual(wrong.map(([, id, code]) => [id, code]));
    expect(isReported(at.cwd)).toBe(false);
  });

  test('joins a message that comes in pieces, and skips one that never ends', async () => {
    const { project, task, at } = await newSession();
    const client = open(at);
    const bytes = Buffer.from(
      `${JSON.stringify(callOf(1, 'ledger_add', { kind: 'learning', text: '林😀\u2028' }))}\r\n`,
    );
    await client.ask('ping');
    // In the middle of a character; the pause lets the first piece arrive alone.
    const middle = bytes.indexOf(0xf0) + 2;
    client.raw(bytes.subarray(0, middle));
    await setTimeout(200);
    client.raw(bytes.subarray(middle));
    expect((await client.answerTo(1)).result).toMatchObject({ isError: false });
    const megabyte = 'x'.repeat(1024 * 1024);
    client.raw('{"id": 2, "method": "ping", "params": "');
    for (let count = 0; count < 20; count += 1) client.raw(megabyte);
    client.raw('"}\n');
    expect((await client.answerTo(null)).error).toMatchObject({ code: -32600 });
    const long = await client.call('ledger_add', { kind: 'learning', text: 'y'.repeat(9 * 1024 * 1024) });
    expect(long).toMatchObject({ isError: true });
    expect(await ledgerOf(project, task)).toEqual(['林😀\u2028']);
  });

  test('runs calls in order, and answers everything else at once', async () => {
    const { project, task, worktree, at } = await newSession();
    const client = open(at);
    const texts = Array.from({ length: 25 }, (_, index) => `note ${index}`);
    client.send(
      // It takes the longest by far.
      callOf('finish', 'finish', {}),
      ...texts.map((text, index) => callOf(index, 'ledger_add', { kind: 'learning', text })),
      { jsonrpc: '2.0', id: 'ping', method: 'ping' },
    );
    await client.answerTo(texts.length - 1);
    expect(client.messages.map(({ id }) => id)).toEqual(['ping', 'finish', ...texts.keys()]);
    expect(await ledgerOf(project, task)).toEqual(texts);
    expect(reportIn(worktree)).toMatchObject({ status: 'finished' });
    // Several messages in one, as an older version of the protocol has it.
    client.send([
      { jsonrpc: '2.0', id: 'one', method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'two', method: 'ping' },
    ]);
    expect((await client.answerTo('two')).result).toEqual({});
    expect((await client.answerTo('one')).result).toEqual({});
  });

  test('does not start a call that was cancelled before its turn, and answers no cancelled one', async () => {
    const { project, task, at } = await newSession();
    const client = open(at);
    client.send(
      callOf(1, 'ledger_add', { kind: 'learning', text: 'first' }),
      callOf(2, 'ledger_add', { kind: 'learning', text: 'second' }),
      callOf(3, 'ledger_add', { kind: 'learning', text: 'third' }),
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } },
    );
    await client.answerTo(3);
    expect(client.messages.map(({ id }) => id)).toEqual([1, 3]);
    expect(await ledgerOf(project, task)).toEqual(['first', 'third']);
  });

  test('ends with its input: complete requests are done, half a message is not', async () => {
    const { project, task, at } = await newSession();
    const whole = `${JSON.stringify(callOf(1, 'ledger_add', { kind: 'learning', text: 'whole' }))}\n`;
    const half = JSON.stringify(callOf(2, 'ledger_add', { kind: 'learning', text: 'half' }));
    const { code, stdout, stderr } = await copse(['mcp'], { ...at, stdin: whole + half });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as Message).id),
    ).toEqual([1]);
    expect(await ledgerOf(project, task)).toEqual(['whole']);
    expect(await answer(['ledger', 'list'], at)).toMatchObject({ entries: [{ text: 'whole' }] });
  });

  test('answers a call in another folder with an error of the tool, and does not exit', async () => {
    const client = open({ cwd: area });
    expect((await client.ask('initialize', { protocolVersion: '2025-06-18' })).result).toBeDefined();
    expect((await client.call('heartbeat')).text).toContain('is not inside a git repository');
    expect((await client.ask('ping')).result).toEqual({});
  });
});
