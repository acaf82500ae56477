/** What the real adapters of Claude and Codex said, said again by a program, and what Copse makes of it. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { type AcpSettings, acpRuntime } from '../../../packages/copse/src/agents/runtimes/acp/runtime.ts';
import { readForAgent, writeForAgent } from '../../../packages/copse/src/agents/runtimes/acp/files.ts';
import { outcomeOfError, outcomeOfStop } from '../../../packages/copse/src/agents/runtimes/acp/outcome.ts';
import {
  answerFor,
  isAllowed,
  modeFor,
} from '../../../packages/copse/src/agents/runtimes/acp/permissions.ts';
import { RpcError } from '../../../packages/copse/src/agents/runtimes/acp/rpc.ts';
import { readUpdates } from '../../../packages/copse/src/agents/runtimes/acp/updates.ts';
import { writeInside } from '../../../packages/copse/src/workspaces/files/write-inside.ts';
import { addUsage, noUsage } from '../../../packages/copse/src/kernel/usage.ts';
import {
  type PermissionRequest,
  type RuntimeEvent,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../../packages/copse/src/agents/ports/runtime.ts';
import { newArea } from '../../support/cli.ts';
import { endTurns, newTurn, pidsOf, printedIn, until } from '../../support/records/turns.ts';

const area = newArea();
const replay = fileURLToPath(new URL('../../support/agents/acp-replay.ts', import.meta.url));

afterEach(endTurns);

interface Played {
  readonly turn: Turn;
  readonly outcome: RuntimeOutcome;
  readonly events: readonly RuntimeEvent[];
  readonly asked: readonly PermissionRequest[];
}

function make(command: AcpSettings['command'], permissions: AcpSettings['permissions']) {
  return acpRuntime({ command, permissions }, openPrograms(), writeInside);
}

async function play(
  name: string,
  permissions: AcpSettings['permissions'],
  changes: Partial<Turn> = {},
): Promise<Played> {
  const record = fileURLToPath(new URL(`samples/acp-${name}.jsonl`, import.meta.url));
  const events: RuntimeEvent[] = [];
  const asked: PermissionRequest[] = [];
  const turn = newTurn(area, {
    prompt: 'write a greeting',
    systemPrompt: 'Be brief.',
    on: (event) => void events.push(event),
    mayUse: (permission) => {
      asked.push(permission);
      const isForbidden = permission.what.includes('forbidden');
      return Promise.resolve({ isAllowed: !isForbidden, message: isForbidden ? 'Not this one.' : null });
    },
    ...changes,
  });
  const running = await make([process.execPath, replay, record, turn.folder], permissions).start(turn);
  return { turn, outcome: await running.ended, events, asked };
}

function usedIn(events: readonly RuntimeEvent[]) {
  return events.reduce((sum, event) => (event.type === 'usage' ? addUsage(sum, event.usage) : sum), noUsage);
}

describe('a recorded agent', () => {
  test('that is Codex edits without asking, ends its turn, and leaves nothing running', async () => {
    const { turn, outcome, events, asked } = await play('codex-work', 'accept_edits');
    expect(outcome).toEqual({ kind: 'completed', exitCode: null, lastWords: 'Done one.' });
    expect(asked).toEqual([]);
    expect(events[0]).toEqual({ type: 'conversation', id: expect.stringMatching(/^01a1e302-/) });
    expect(usedIn(events)).toEqual({ input: 1_200, cached: 500, output: 70, dollars: null });
    expect(events).toContainEqual({ type: 'context', share: 1_550 / 258_400 });
    expect(printedIn(turn)).toMatch(/^• edit .*hello\.txt\n• .*hello\.txt'?\nDone one\.\n$/);
    // The reaper above it goes a moment after it.
    await until(async () => (await pidsOf(turn)).length === 0);
  });

  test('whose turn ends with a refusal is told why, and continues', async () => {
    const { outcome, asked } = await play('codex-refused', 'ask');
    expect(asked.map(({ what }) => what)).toEqual([
      expect.stringContaining('forbidden.txt'),
      expect.stringContaining('allowed.txt'),
    ]);
    expect(outcome).toMatchObject({ kind: 'completed', lastWords: 'One of two.' });
  });

  test('that ends its turn normally after an error of its model has failed', async () => {
    const { outcome } = await play('codex-bad-request', 'all');
    expect(outcome).toEqual({
      kind: 'api_error',
      status: 400,
      isRetryable: false,
      reason: 'scripted: bad request',
    });
  });

  test('that is Claude asks for each command, and reports the dollars of this turn', async () => {
    const { outcome, asked, events, turn } = await play('claude-work', 'ask');
    expect(asked).toEqual([
      { tool: 'Bash', what: 'echo forbidden > f.txt' },
      { tool: 'Bash', what: 'echo hi > b.txt' },
    ]);
    expect(outcome).toMatchObject({ kind: 'completed', lastWords: 'I hear.' });
    const { dollars, ...tokens } = usedIn(events);
    expect(tokens).toEqual({ input: 1_300, cached: 500, output: 80 });
    expect(dollars).toBeCloseTo(0.0081, 6);
    expect(printedIn(turn)).toContain('• Bash echo hi > b.txt\n');
  });

  test('that answers with an error has met a limit', async () => {
    const { outcome } = await play('claude-limit', 'all');
    expect(outcome).toMatchObject({ kind: 'limit', until: null, reason: expect.stringContaining('429') });
  });

  test('that gets an unexpected message crashes, and its output is reported', async () => {
    const { outcome } = await play('codex-work', 'accept_edits', { prompt: 'another prompt' });
    expect(outcome).toMatchObject({ kind: 'crashed', exitCode: 3 });
    expect((outcome as { reason: string }).reason).toContain('another prompt');
  });

  test('that waits for a person can be stopped, and its process ends', async () => {
    const asked = Promise.withResolvers<void>();
    const record = fileURLToPath(new URL('samples/acp-codex-refused.jsonl', import.meta.url));
    const turn = newTurn(area, {
      prompt: 'write a greeting',
      systemPrompt: 'Be brief.',
      mayUse: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const running = await make([process.execPath, replay, record, turn.folder], 'ask').start(turn);
    await asked.promise;
    await running.stop({ graceMs: 200 });
    expect(await running.ended).toEqual({ kind: 'cancelled' });
    expect(await pidsOf(turn)).toEqual([]);
  });
});

describe('starting an agent', () => {
  test.each(['claude', 'codex', 'gemini', 'opencode'])(
    '%s by its name says how to install it',
    async (name) => {
      const turn = newTurn(area, { environment: { PATH: area } });
      await expect(make(name, 'all').start(turn)).rejects.toThrow(RuntimeUnavailable);
      await expect(make(name, 'all').start(turn)).rejects.toThrow(/Install it: npm install --global /);
    },
  );

  test('a shell line that does not speak the protocol is a crash with its exit code', async () => {
    const running = await make('echo hello; echo broken >&2; exit 5', 'all').start(newTurn(area));
    expect(await running.ended).toEqual({
      kind: 'crashed',
      exitCode: 5,
      reason: expect.stringMatching(/exit code 5[^]*broken/),
    });
  });
});

describe('how a turn ended', () => {
  const words = { lastWords: 'Well.', hasOutput: true, hasTools: true, failure: null, resetsAtMs: null };

  test.each([
    ['end_turn', { kind: 'completed', exitCode: null, lastWords: 'Well.' }],
    ['max_tokens', { kind: 'completed', exitCode: null, lastWords: 'Well.' }],
    ['refusal', { kind: 'needs_input', question: 'Its model refused to go on. Well.' }],
    ['cancelled', { kind: 'crashed', exitCode: null, reason: 'its turn was cancelled, but not by Copse' }],
  ])('%s', (reason, outcome) => {
    expect(outcomeOfStop(reason, words, true, 0)).toEqual(outcome);
  });

  test('a turn without output is a crash', () => {
    const silent = { ...words, lastWords: '', hasOutput: false, hasTools: false };
    expect(outcomeOfStop('end_turn', silent, true, 0)).toMatchObject({ kind: 'crashed' });
  });

  test('an API’s error as the last message is a failure only without tool calls and usage', () => {
    const said = { ...words, lastWords: 'exceeded retry limit, last status: 429 Too Many Requests' };
    expect(outcomeOfStop('end_turn', { ...said, hasTools: false }, false, 0)).toMatchObject({
      kind: 'limit',
    });
    expect(outcomeOfStop('end_turn', said, true, 0)).toMatchObject({ kind: 'completed' });
  });

  test.each([
    [
      new RpcError(-32_000, 'Authentication required'),
      { kind: 'api_error', status: 401, isRetryable: false },
    ],
    [
      new RpcError(-32_603, 'Internal error: API Error: 500 oh', { errorKind: 'server_error' }),
      { kind: 'api_error', status: 500, isRetryable: true, reason: 'API Error: 500 oh' },
    ],
    [
      new RpcError(-32_603, 'Internal error: API Error: 400 no', { errorKind: 'unknown' }),
      { kind: 'api_error', status: 400, isRetryable: false },
    ],
    [
      new RpcError(-32_603, 'API Error: Connection dropped', { errorKind: 'server_error' }),
      { kind: 'api_error', status: null, isRetryable: true },
    ],
    [new RpcError(-32_603, 'Internal error', { errorKind: 'transport_lost' }), { kind: 'crashed' }],
    [
      new RpcError(-32_603, 'Internal error: Reached maximum budget ($0.5)'),
      { kind: 'needs_input', question: 'It stopped at its budget: Reached maximum budget ($0.5).' },
    ],
  ])('%s', (error, outcome) => {
    expect(outcomeOfError(error, words, 0)).toMatchObject(outcome);
  });

  test('a limit lifts at the time that the vendor gave', () => {
    const error = new RpcError(-32_603, 'You have hit your session limit', { errorKind: 'rate_limit' });
    expect(outcomeOfError(error, { ...words, resetsAtMs: 5_000 }, 0)).toMatchObject({
      kind: 'limit',
      until: 5_000,
    });
  });
});

describe('permissions', () => {
  const edit = { name: undefined, kind: 'edit', title: 'Edit', input: undefined, paths: ['/w/a.txt'] };
  const shell = { ...edit, name: 'Bash', kind: 'execute' };

  test('accept_edits allows edits inside the folder, and nothing else', () => {
    expect(isAllowed('accept_edits', edit, '/w')).toBe(true);
    for (const file of ['/w/../x', '/wx', '/', '../x', '/w'])
      expect(isAllowed('accept_edits', { ...edit, paths: ['/w/a.txt', file] }, '/w')).toBe(false);
    expect(isAllowed('accept_edits', { ...edit, paths: [] }, '/w')).toBe(false);
    expect(isAllowed('accept_edits', shell, '/w')).toBe(false);
  });

  // setting: agents.<name>.permissions, agents.<name>.permissions.allow
  test('ask asks for everything, all for nothing, and a list for everything not on it', () => {
    expect([isAllowed('ask', edit, '/w'), isAllowed('all', shell, '/w')]).toEqual([false, true]);
    expect(isAllowed({ allow: ['Bash'] }, shell, '/w')).toBe(true);
    expect(isAllowed({ allow: ['Bash'] }, edit, '/w')).toBe(false);
  });

  test('the mode is one that the agent offers, and is set only if it differs', () => {
    const offering = (...ids: readonly string[]) => ({
      modes: { currentModeId: 'default', availableModes: ids.map((id) => ({ id })) },
    });
    expect(modeFor('accept_edits', offering('default', 'acceptEdits'))).toBe('acceptEdits');
    expect(modeFor('all', offering('default', 'acceptEdits'))).toBeNull();
    expect(modeFor('all', offering('default', 'agent-full-access'))).toBe('agent-full-access');
    expect(modeFor('ask', offering('read-only', 'agent'))).toBe('read-only');
    expect(modeFor({ allow: [] }, offering('read-only', 'agent'))).toBe('read-only');
    expect(modeFor('ask', {})).toBeNull();
  });

  test('an answer counts once, if the agent allows that', () => {
    const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({
      kind,
      optionId: `o-${kind}`,
    }));
    expect(answerFor(true, { options }).outcome).toEqual({ outcome: 'selected', optionId: 'o-allow_once' });
    expect(answerFor(false, { options }).outcome).toEqual({ outcome: 'selected', optionId: 'o-reject_once' });
    expect(answerFor(false, { options: options.slice(0, 2) }).outcome).toEqual({ outcome: 'cancelled' });
  });
});

test('files are read and written through the client inside the folder only', async () => {
  const folder = path.join(area, 'files');
  const outside = path.join(area, 'outside.txt');
  mkdirSync(path.join(folder, 'in'), { recursive: true });
  writeFileSync(outside, 'secret');
  symlinkSync(outside, path.join(folder, 'link'));
  symlinkSync(area, path.join(folder, 'up'));
  const write = (file: string) => writeForAgent(folder, { path: file, content: 'new' }, writeInside);
  await write(path.join(folder, 'in', 'a.txt'));
  expect(await readForAgent(folder, { path: path.join(folder, 'in', 'a.txt') })).toEqual({ content: 'new' });
  for (const file of [
    outside,
    path.join(folder, '..', 'x'),
    path.join(folder, 'up', 'x'),
    path.join(folder, '.git'),
  ])
    await expect(write(file)).rejects.toThrow(/outside|is not a folder/);
  for (const file of [outside, path.join(folder, 'link'), path.join(folder, 'up', 'outside.txt')])
    await expect(readForAgent(folder, { path: file })).rejects.toThrow(/outside/);
  // A link is replaced and never followed.
  await write(path.join(folder, 'link'));
  expect(readFileSync(outside, 'utf8')).toBe('secret');
  const some = { path: path.join(folder, 'in', 'b.txt'), content: '1\n2\n3\n' };
  await writeForAgent(folder, some, writeInside);
  expect(await readForAgent(folder, { path: some.path, line: 2, limit: 1 })).toEqual({ content: '2' });
});

test('updates of unknown kinds and shapes are ignored', () => {
  const events: RuntimeEvent[] = [];
  const quiet = { said: () => {}, used: () => {}, note: () => {} };
  const reader = readUpdates(
    { conversation: null, used: noUsage, on: (event) => void events.push(event) },
    quiet,
  );
  for (const update of [
    null,
    1,
    [],
    {},
    { sessionUpdate: 'news' },
    { sessionUpdate: 'usage_update', used: 'x' },
  ])
    reader.take(update);
  reader.takeUsage(null);
  reader.takeUsage({ inputTokens: 'many' });
  expect(events).toEqual([]);
  expect(reader.end()).toMatchObject({ hasOutput: false, failure: null });
});

test('Codex that lost its model after some work has failed, though it ends its turn normally', () => {
  const quiet = { said: () => {}, used: () => {}, note: () => {} };
  const status = (type: string) => ({
    sessionUpdate: 'session_info_update',
    _meta: { codex: { threadStatus: { type } } },
  });
  const said = (text: string, messageId?: string) => ({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text },
    ...(messageId !== undefined && { messageId }),
  });
  const played = (...updates: readonly unknown[]) => {
    const reader = readUpdates({ conversation: null, used: noUsage, on: () => {} }, quiet);
    for (const update of updates) reader.take(update);
    return outcomeOfStop('end_turn', reader.end(), true, 0);
  };
  const tool = {
    sessionUpdate: 'tool_call',
    toolCallId: 'c',
    kind: 'edit',
    title: 'Edit',
    status: 'completed',
  };
  const lost = [
    status('active'),
    tool,
    said('I edit.', 'm'),
    status('systemError'),
    said('It broke off.\n\n'),
  ];
  expect(played(...lost)).toEqual({
    kind: 'api_error',
    status: null,
    isRetryable: true,
    reason: 'It broke off.',
  });
  // Prompted once more, it works again.
  expect(played(...lost, status('active'), said('Done.', 'n'))).toMatchObject({
    kind: 'completed',
    lastWords: 'Done.',
  });
});
