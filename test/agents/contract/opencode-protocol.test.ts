/** What a real opencode printed, and what Copse makes of it. */

import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { commandOf, opencodeRuntime } from '../../../packages/copse/src/agents/runtimes/opencode/runtime.ts';
import {
  type OpencodeReader,
  readOpencode,
} from '../../../packages/copse/src/agents/runtimes/opencode/events.ts';
import { outcomeOfFailure } from '../../../packages/copse/src/agents/runtimes/opencode/failure.ts';
import { addUsage, noUsage, type Usage } from '../../../packages/copse/src/kernel/usage.ts';
import { RuntimeUnavailable, type RuntimeEvent } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { newArea } from '../../support/cli.ts';
import { newTurn } from '../../support/records/turns.ts';

const area = newArea();

interface Reading {
  readonly reader: OpencodeReader;
  readonly events: readonly RuntimeEvent[];
  readonly shown: readonly string[];
}

function sample(name: string): readonly unknown[] {
  const file = new URL(`samples/opencode-${name}.jsonl`, import.meta.url);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

function read(lines: readonly unknown[]): Reading {
  const events: RuntimeEvent[] = [];
  const shown: string[] = [];
  const reader = readOpencode({
    turn: { on: (event) => void events.push(event) },
    transcript: {
      said: (text) => void shown.push(`said ${text}`),
      used: (tool, what) => void shown.push(`${tool} ${what}`),
      note: (text) => void shown.push(`note ${text}`),
    },
  });
  for (const line of lines) reader.take(line);
  return { reader, events, shown };
}

function sum(events: readonly RuntimeEvent[]): Usage {
  return events.reduce(
    (total, event) => (event.type === 'usage' ? addUsage(total, event.usage) : total),
    noUsage,
  );
}

describe('what opencode prints', () => {
  test('reports the conversation first and once, and then each step in words', () => {
    const { events, shown, reader } = read(sample('work'));
    expect(events[0]).toEqual({ type: 'conversation', id: 'ses_1' });
    expect(events.filter(({ type }) => type === 'conversation')).toHaveLength(1);
    expect(shown).toEqual([
      'write /work tree/hello.txt',
      'bash echo hi; git add -A; git -c user.name=a -c user.email=b@c commit -qm x; false',
      'note exit code 1',
      'said Done one.',
    ]);
    expect(reader.isComplete()).toBe(true);
    expect(reader.lastWords()).toBe('Done one.');
  });

  test('counts each answer separately', () => {
    expect(sum(read(sample('work')).events)).toEqual({
      input: 6_000,
      cached: 500,
      output: 60,
      dollars: null,
    });
    expect(sum(read(sample('resumed')).events)).toEqual({
      input: 4_000,
      cached: 0,
      output: 40,
      dollars: null,
    });
  });

  test('reports dollars if it knows a price, and counts reasoning as output', () => {
    const tokens = { input: 10, output: 2, reasoning: 3, cache: { read: 4, write: 5 } };
    const { events } = read([{ type: 'step_finish', part: { reason: 'stop', tokens, cost: 0.25 } }]);
    expect(sum(events)).toEqual({ input: 10, cached: 9, output: 5, dollars: 0.25 });
    expect(events.at(-1)).toEqual({ type: 'context', share: 24 / 200_000 });
  });

  test('does not end the turn if the last answer wanted a tool', () => {
    expect(read(sample('refused')).reader.isComplete()).toBe(false);
  });

  test('is ignored if its kind or shape is unknown', () => {
    const { events, reader } = read([null, 7, 'x', [], {}, { type: 'step_finish' }, { type: 'later' }]);
    expect(events).toEqual([]);
    expect(reader.isComplete()).toBe(false);
  });
});

describe('how opencode fails', () => {
  const now = Date.parse('2026-11-16T05:48:00Z');
  const outcome = (name: string) => outcomeOfFailure(read(sample(name)).reader.failure()!, now);

  test('a refused request is not retried', () => {
    expect(outcome('bad-request')).toEqual({
      kind: 'api_error',
      status: 400,
      isRetryable: false,
      reason: 'scripted: bad request',
    });
  });

  test('a limit has the time at which it lifts', () => {
    expect(outcome('limit')).toEqual({
      kind: 'limit',
      until: now + 1_000,
      reason: 'scripted failure 429',
    });
    const at = 'Mon, 16 Nov 2026 07:02:47 GMT';
    const data = { message: 'x', statusCode: 429, responseHeaders: { 'retry-after': at } };
    expect(outcomeOfFailure({ name: 'APIError', data }, now)).toMatchObject({ until: Date.parse(at) });
  });

  test('only a failure of the API may be retried', () => {
    const failed = (name: string, data: object) =>
      outcomeOfFailure({ name, data: { message: 'x', ...data } }, now);
    expect(failed('APIError', { statusCode: 503 })).toMatchObject({ status: 503, isRetryable: true });
    expect(failed('APIError', { isRetryable: true })).toMatchObject({ status: null, isRetryable: true });
    expect(failed('ProviderAuthError', {})).toMatchObject({ status: 401, isRetryable: false });
    expect(failed('UnknownError', {})).toMatchObject({ kind: 'api_error', isRetryable: false });
  });

  test('an error after which it continued is not a failure', () => {
    const { reader } = read([...sample('bad-request'), ...sample('resumed')]);
    expect(reader.failure()).toBeNull();
    expect(reader.isComplete()).toBe(true);
  });
});

describe('how opencode is started', () => {
  const turn = newTurn(area, { systemPrompt: 'You speak only of copses.' });

  test('begins a conversation with its instructions, and does not repeat them', () => {
    const settings = { permissions: 'all', systemPrompt: 'Be brief.', model: 'p/m' } as const;
    const begun = commandOf(settings, turn);
    expect(begun.argv).toEqual(['opencode', 'run', '--format=json', '--auto', '--model=p/m']);
    expect(begun.prompt).toBe(`Be brief.\n\nYou speak only of copses.\n\n${turn.prompt}`);
    const resumed = commandOf(settings, { ...turn, conversation: 'ses_1' });
    expect(resumed.argv.at(-1)).toBe('--session=ses_1');
    expect(resumed.prompt).toBe(turn.prompt);
  });

  test('has only the tools of its policy, and is told when it cannot commit', () => {
    const { argv, environment, prompt } = commandOf({ permissions: 'accept_edits' }, turn);
    expect(argv).not.toContain('--auto');
    const rules = Object.entries(JSON.parse(environment['OPENCODE_PERMISSION']!) as object);
    expect(rules[0]).toEqual(['*', 'deny']);
    expect(rules).toContainEqual(['edit', 'allow']);
    expect(rules.map(([tool]) => tool)).not.toContain('bash');
    expect(prompt).toContain('Copse commits them');
    const commits = (allow: readonly string[]) =>
      opencodeRuntime({ permissions: { allow } }, openPrograms()).capabilities.commits;
    expect(commits(['read', 'edit'])).toBe(false);
    expect(commits(['read', 'bash'])).toBe(true);
  });

  test('is not started if it would have to ask', async () => {
    const runtime = opencodeRuntime({ permissions: 'ask', program: ['false'] }, openPrograms());
    await expect(runtime.start(turn)).rejects.toThrow(RuntimeUnavailable);
    await expect(runtime.start(turn)).rejects.toThrow(/accept_edits, all.*acp/);
  });
});
