/** What a real Codex printed and recorded, and what Copse makes of it. */

import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { commandOf, codexRuntime } from '../../../packages/copse/src/agents/runtimes/codex/runtime.ts';
import { type CodexReader, readCodex } from '../../../packages/copse/src/agents/runtimes/codex/events.ts';
import { outcomeOfFailure } from '../../../packages/copse/src/agents/runtimes/codex/failure.ts';
import type { Usage } from '../../../packages/copse/src/kernel/usage.ts';
import { noUsage } from '../../../packages/copse/src/kernel/usage.ts';
import { RuntimeUnavailable, type RuntimeEvent } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { newArea } from '../../support/cli.ts';
import { newTurn } from '../../support/records/turns.ts';

const area = newArea();
const thread = '01a1e2e4-0000-7000-8000-000000000001';

interface Reading {
  readonly reader: CodexReader;
  readonly events: readonly RuntimeEvent[];
  readonly shown: readonly string[];
}

function sample(name: string): readonly unknown[] {
  const file = new URL(`samples/codex-${name}.jsonl`, import.meta.url);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

/** What is printed last comes last, as when its record is read while it works. */
function read(
  name: string,
  { conversation = null, used = noUsage }: { conversation?: string | null; used?: Usage } = {},
  withRecord = true,
): Reading {
  const events: RuntimeEvent[] = [];
  const shown: string[] = [];
  const reader = readCodex({
    turn: { conversation, used, on: (event) => void events.push(event) },
    transcript: {
      said: (text) => void shown.push(`said ${text}`),
      used: (tool, what) => void shown.push(`${tool} ${what}`),
      note: (text) => void shown.push(`note ${text}`),
    },
  });
  const lines = sample(name);
  for (const line of lines.slice(0, -1)) reader.take(line);
  if (withRecord) for (const line of sample(`${name}-record`)) reader.takeRecord(line);
  for (const line of lines.slice(-1)) reader.take(line);
  return { reader, events, shown };
}

function usageIn(events: readonly RuntimeEvent[]): readonly Usage[] {
  return events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
}

function sum(events: readonly RuntimeEvent[]): Pick<Usage, 'input' | 'cached' | 'output'> {
  const all = usageIn(events);
  const of = (field: 'input' | 'cached' | 'output') => all.reduce((total, one) => total + one[field], 0);
  return { input: of('input'), cached: of('cached'), output: of('output') };
}

describe('what Codex prints', () => {
  test('reports the conversation first, and then each step in words', () => {
    const { events, shown, reader } = read('work');
    expect(events[0]).toEqual({ type: 'conversation', id: thread });
    expect(shown).toEqual([
      'edit add /work tree/hello.txt',
      "shell /bin/bash -lc 'echo a > b.txt; cat b.txt'",
      "shell /bin/bash -lc 'git add -A && git commit -m x; echo code $?'",
      'said Done one.',
    ]);
    expect(reader.isComplete()).toBe(true);
    expect(reader.failure()).toBeNull();
    expect(reader.lastWords()).toBe('Done one.');
  });

  test('is reported as tokens of this turn, while they are used, and none twice', () => {
    const { events } = read('work');
    expect(usageIn(events).length).toBeGreaterThan(1);
    expect(sum(events)).toEqual({ input: 1_300, cached: 500, output: 80 });
  });

  test('counts from the beginning of the conversation, so usage of earlier turns is subtracted', () => {
    const used = { input: 1_300, cached: 500, output: 80, dollars: null };
    const { events } = read('resumed', { conversation: thread, used });
    expect(sum(events)).toEqual({ input: 2_000, cached: 700, output: 60 });
  });

  test('counts a new conversation from zero, whatever another one used', () => {
    const used = { input: 9_000, cached: 0, output: 900, dollars: null };
    expect(sum(read('work', { used }).events)).toEqual({ input: 1_300, cached: 500, output: 80 });
  });

  test('is enough without its record, except for how full the context is', () => {
    const { events, reader } = read('work', {}, false);
    expect(sum(events)).toEqual({ input: 1_300, cached: 500, output: 80 });
    expect(events.some(({ type }) => type === 'context')).toBe(false);
    expect(reader.isComplete()).toBe(true);
  });

  test('reports how full the context is from the last request alone', () => {
    const shares = read('work').events.flatMap((event) => (event.type === 'context' ? [event.share] : []));
    expect(shares.at(-1)).toBeCloseTo(1_550 / 258_400, 6);
  });

  test('is ignored if its kind or shape is unknown', () => {
    const { reader, events } = read('work');
    const before = events.length;
    for (const line of [
      null,
      7,
      'x',
      [],
      {},
      { type: 'item.completed' },
      { type: 'turn.completed', usage: 1 },
    ])
      reader.take(line);
    for (const line of [null, {}, { type: 'event_msg', payload: { type: 'token_count', info: 3 } }])
      reader.takeRecord(line);
    expect(events).toHaveLength(before);
  });
});

describe('how Codex fails', () => {
  const now = Date.parse('2026-11-16T05:48:00Z');
  const outcome = (name: string, withRecord = true) =>
    outcomeOfFailure(read(name, {}, withRecord).reader.failure()!, now);
  const saying = (message: string) => outcomeOfFailure({ message, kind: null, resetsAtMs: null }, now);

  test('a limit of the plan has the time at which it lifts', () => {
    expect(read('limit').reader.isComplete()).toBe(false);
    expect(outcome('limit')).toEqual({
      kind: 'limit',
      until: 1_794_826_069_000,
      reason: expect.stringContaining('usage limit'),
    });
  });

  test('a limit is also recognised by its text, in which the time of day is local', () => {
    const at = new Date(now);
    at.setHours(10, 48, 0, 0);
    const until = at.getTime() > now ? at.getTime() : at.getTime() + 86_400_000;
    expect(outcome('limit', false)).toMatchObject({ kind: 'limit', until });
    expect(saying('You’ve hit your usage limit. Try again later.')).toMatchObject({
      kind: 'limit',
      until: null,
    });
    expect(saying('You’ve hit your usage limit … or try again at Nov 20th, 2026 3:05 PM.')).toMatchObject({
      until: new Date(2026, 10, 20, 15, 6).getTime(),
    });
    expect(saying('rate limit exceeded: Please try again in 1m30.5s. Visit')).toMatchObject({
      kind: 'limit',
      until: now + 90_500,
    });
    expect(saying('exceeded retry limit, last status: 429 Too Many Requests')).toMatchObject({
      kind: 'limit',
      until: null,
    });
    expect(saying('Quota exceeded. Check your plan and billing details.')).toMatchObject({
      kind: 'limit',
    });
  });

  test('a plan without Codex is not a limit that lifts', () => {
    const message = 'To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.';
    expect(outcomeOfFailure({ message, kind: 'usage_limit_exceeded', resetsAtMs: null }, now)).toMatchObject({
      kind: 'api_error',
      isRetryable: false,
    });
  });

  test('a refused request is not retried', () => {
    const refused = { kind: 'api_error', status: 400, isRetryable: false, reason: 'scripted failure 400' };
    expect(outcome('bad-request')).toEqual(refused);
    expect(outcome('bad-request', false)).toEqual(refused);
  });

  test('a server error may be retried', () => {
    expect(outcome('server-error')).toMatchObject({ kind: 'api_error', status: 500, isRetryable: true });
    expect(outcome('server-error', false)).toMatchObject({ status: 500, isRetryable: true });
    expect(saying('stream disconnected before completion: Transport error: network error')).toMatchObject({
      kind: 'api_error',
      status: null,
      isRetryable: true,
    });
    expect(saying('unexpected status 401 Unauthorized: Incorrect API key provided')).toMatchObject({
      status: 401,
      isRetryable: false,
    });
    expect(
      outcomeOfFailure(
        { message: 'ran out of room', kind: 'context_window_exceeded', resetsAtMs: null },
        now,
      ),
    ).toMatchObject({ kind: 'api_error', isRetryable: false });
  });
});

describe('how Codex is started', () => {
  const turn = newTurn(area, { systemPrompt: 'Say "hello"\n\\ and \u007f.' });

  // setting: agents.<name>.model
  test('resumes its conversation, in the sandbox of the policy, without asking', () => {
    const { argv, prompt } = commandOf({ permissions: 'all', model: 'm' }, { ...turn, conversation: thread });
    expect(argv.slice(0, 2)).toEqual(['codex', 'exec']);
    expect(argv.slice(-3)).toEqual(['resume', thread, '-']);
    expect(argv).toEqual(
      expect.arrayContaining([
        '--sandbox=danger-full-access',
        '--model=m',
        '--config=approval_policy="never"',
      ]),
    );
    expect(argv).toContain(String.raw`--config=developer_instructions="Say \"hello\"\n\\ and \u007f."`);
    expect(prompt).toBe(turn.prompt);
  });

  test('is told when it cannot commit', () => {
    const { argv } = commandOf({ permissions: 'accept_edits' }, turn);
    expect(argv).toContain('--sandbox=workspace-write');
    expect(argv.join('\n')).toContain('Copse commits them');
    expect(codexRuntime({ permissions: 'accept_edits' }, openPrograms()).capabilities.commits).toBe(false);
    expect(codexRuntime({ permissions: 'all' }, openPrograms()).capabilities.commits).toBe(true);
  });

  test('gets instructions that are too long for an argument before the prompt', () => {
    const long = { ...turn, systemPrompt: 'long '.repeat(40_000) };
    const { argv, prompt } = commandOf({ permissions: 'all' }, long);
    expect(argv.join('\n')).not.toContain('developer_instructions');
    expect(prompt).toBe(`${long.systemPrompt}\n\n${turn.prompt}`);
  });

  test.each(['ask' as const, { allow: ['shell'] }])(
    'is not started if it would have to ask: %j',
    async (permissions) => {
      const runtime = codexRuntime({ permissions, program: ['false'] }, openPrograms());
      await expect(runtime.start(turn)).rejects.toThrow(RuntimeUnavailable);
      await expect(runtime.start(turn)).rejects.toThrow(/accept_edits or all.*acp/);
    },
  );
});
