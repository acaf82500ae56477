/** What a real Gemini CLI printed and recorded, and what Copse makes of it. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { commandOf, geminiRuntime } from '../../../packages/copse/src/agents/runtimes/gemini/runtime.ts';
import { type GeminiReader, readGemini } from '../../../packages/copse/src/agents/runtimes/gemini/events.ts';
import { outcomeOfFailure } from '../../../packages/copse/src/agents/runtimes/gemini/failure.ts';
import { isConversationKept } from '../../../packages/copse/src/agents/runtimes/gemini/record.ts';
import { addUsage, noUsage, type Usage } from '../../../packages/copse/src/kernel/usage.ts';
import { RuntimeUnavailable, type RuntimeEvent } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { newArea } from '../../support/cli.ts';
import { newTurn } from '../../support/records/turns.ts';

const area = newArea();
const id = '22222222-2222-4333-8444-555555555555';

function sample(name: string): readonly unknown[] {
  const file = new URL(`samples/gemini-${name}.jsonl`, import.meta.url);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

interface Reading {
  readonly reader: GeminiReader;
  readonly events: RuntimeEvent[];
  readonly shown: readonly string[];
}

function newReading(): Reading {
  const events: RuntimeEvent[] = [];
  const shown: string[] = [];
  const reader = readGemini({
    turn: { on: (event) => void events.push(event) },
    transcript: {
      said: (text) => void shown.push(`said ${text}`),
      used: (tool, what) => void shown.push(`${tool} ${what}`),
      note: (text) => void shown.push(`note ${text}`),
    },
  });
  return { reader, events, shown };
}

function read(name: string): Reading {
  const reading = newReading();
  for (const line of sample(name)) reading.reader.take(line);
  reading.reader.end();
  return reading;
}

function sum(events: readonly RuntimeEvent[]): Usage {
  return events.reduce(
    (total, event) => (event.type === 'usage' ? addUsage(total, event.usage) : total),
    noUsage,
  );
}

describe('what Gemini prints', () => {
  test('reports the conversation first, and then each step in words', () => {
    const { events, shown, reader } = read('work');
    expect(events[0]).toEqual({ type: 'conversation', id: '11111111-2222-4333-8444-555555555555' });
    expect(shown).toEqual([
      'write_file /work tree/hello.txt',
      'run_shell_command echo hi; git add -A; git -c user.name=a -c user.email=b@c commit -qm x; false',
      'said Done one.',
    ]);
    expect(reader.isComplete()).toBe(true);
    expect(reader.failure()).toBeNull();
    expect(reader.lastWords()).toBe('Done one.');
  });

  test('counts each run of the program from zero', () => {
    expect(sum(read('work').events)).toEqual({ input: 6_000, cached: 500, output: 60, dollars: null });
    expect(sum(read('resumed').events)).toEqual({ input: 4_000, cached: 0, output: 40, dollars: null });
  });

  test.each(['before', 'after'])('is reported once when its record is read %s its output', (when) => {
    const { reader, events } = newReading();
    const takeRecord = () => {
      for (const line of sample('tools-record')) reader.takeRecord(line);
    };
    if (when === 'before') takeRecord();
    for (const line of sample('tools')) reader.take(line);
    if (when === 'after') takeRecord();
    expect(sum(events)).toEqual({ input: 3_000, cached: 500, output: 30, dollars: null });
  });

  test('has usage and fill of the context in its record when it is stopped', () => {
    const { reader, events } = newReading();
    for (const line of sample('tools-record')) reader.takeRecord(line);
    expect(sum(events)).toEqual({ input: 3_000, cached: 500, output: 30, dollars: null });
    const shares = events.flatMap((event) => (event.type === 'context' ? [event.share] : []));
    expect(shares).toEqual([1_010 / 1_048_576, 2_520 / 1_048_576]);
  });

  test('counts thoughts as output', () => {
    const { reader, events } = newReading();
    const stats = { total_tokens: 1_500, input_tokens: 1_000, output_tokens: 100, cached: 0 };
    reader.take({ type: 'result', status: 'success', stats });
    expect(sum(events)).toMatchObject({ input: 1_000, output: 500 });
  });

  test('is not a success when its last message was an error, whatever its result says', () => {
    const { reader } = newReading();
    reader.take({ type: 'error', severity: 'error', message: 'Maximum session turns exceeded' });
    reader.take({ type: 'result', status: 'success', stats: {} });
    expect(reader.isComplete()).toBe(false);
    expect(reader.failure()).toMatchObject({ message: 'Maximum session turns exceeded' });
  });

  test('is ignored if its kind or shape is unknown', () => {
    const { reader, events } = newReading();
    for (const line of [null, 7, 'x', [], {}, { type: 'init' }, { type: 'message' }, { type: 'later' }])
      reader.take(line);
    for (const line of [null, {}, { type: 'gemini' }, { type: 'gemini', id: 'x', tokens: 3 }])
      reader.takeRecord(line);
    expect(events).toEqual([]);
    expect(reader.isComplete()).toBe(false);
  });
});

describe('how Gemini fails', () => {
  const now = Date.parse('2026-11-16T05:48:00Z');
  const outcome = (name: string, exitCode: number) =>
    outcomeOfFailure(read(name).reader.failure()!, exitCode, now);
  const saying = (message: string, exitCode = 1) =>
    outcomeOfFailure({ message, type: 'unknown' }, exitCode, now);

  test('a refused request is not retried', () => {
    expect(outcome('bad-request', 144)).toEqual({
      kind: 'api_error',
      status: 400,
      isRetryable: false,
      reason: 'scripted: bad request',
    });
  });

  test('a server error, or a broken connection, may be retried', () => {
    expect(outcome('server-error', 244)).toMatchObject({ status: 500, isRetryable: true });
    expect(outcome('broken-off', 1)).toEqual({
      kind: 'api_error',
      status: null,
      isRetryable: true,
      reason: 'terminated',
    });
  });

  test('a limit is recognised by its exit code alone', () => {
    expect(outcome('limit', 173)).toEqual({
      kind: 'limit',
      until: null,
      reason: expect.stringMatching(/^scripted failure 429\nPlease wait/),
    });
  });

  test('a limit has the time at which it lifts', () => {
    expect(
      saying(
        '[API Error: You have exhausted your capacity on this model. Your quota will reset after 3h20m5s.]',
      ),
    ).toMatchObject({ kind: 'limit', until: now + (3 * 3_600 + 20 * 60 + 5) * 1_000 });
    expect(saying('[API Error: Please retry in 12.5s.]', 173)).toMatchObject({ until: now + 12_500 });
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }];
    const error = { code: 429, message: 'Quota exceeded', details };
    expect(saying(`[API Error: ${JSON.stringify({ error })}]`)).toEqual({
      kind: 'limit',
      until: now + 34_000,
      reason: 'Quota exceeded',
    });
  });

  test('a limit of its own settings is not retried', () => {
    const failure = { message: 'Reached max session turns', type: 'FatalTurnLimitedError' };
    expect(outcomeOfFailure(failure, 53, now)).toMatchObject({ kind: 'api_error', isRetryable: false });
  });
});

describe('how Gemini is started', () => {
  const turn = newTurn(area, { systemPrompt: 'You speak only of copses.' });
  const settings = { permissions: 'all', systemPrompt: 'Be brief.', model: 'm' } as const;

  test('begins a conversation with its instructions, and does not repeat them', () => {
    const begun = commandOf(settings, turn, { id, isKept: false });
    expect(begun.argv).toEqual([
      'gemini',
      '--output-format=stream-json',
      '--approval-mode=yolo',
      `--session-id=${id}`,
      '--model=m',
    ]);
    expect(begun.prompt).toBe(`Be brief.\n\nYou speak only of copses.\n\n${turn.prompt}`);
    const resumed = commandOf(settings, turn, { id, isKept: true });
    expect(resumed.argv).toContain(`--resume=${id}`);
    expect(resumed.prompt).toBe(turn.prompt);
  });

  test('escapes a slash at the beginning, which would be a command', () => {
    const { prompt } = commandOf(settings, { ...turn, prompt: '/quit' }, { id, isKept: true });
    expect(prompt).toBe('\n/quit');
  });

  test('is told that it cannot commit when it has no shell', () => {
    const may = (permissions: Parameters<typeof geminiRuntime>[0]['permissions']) =>
      geminiRuntime({ permissions }, openPrograms()).capabilities.commits;
    expect(may('all')).toBe(true);
    expect(may('accept_edits')).toBe(false);
    expect(may({ allow: ['write_file', 'run_shell_command(npm test)'] })).toBe(false);
    expect(may({ allow: ['run_shell_command(git)'] })).toBe(true);
    const { argv, prompt } = commandOf({ permissions: 'accept_edits' }, turn, { id, isKept: false });
    expect(argv).toContain('--approval-mode=auto_edit');
    expect(prompt).toContain('Copse commits them');
    const listed = commandOf({ permissions: { allow: ['write_file'] } }, turn, { id, isKept: false });
    expect(listed.argv).toEqual(
      expect.arrayContaining(['--approval-mode=default', '--allowed-tools=write_file']),
    );
  });

  test('is not started if it would have to ask', async () => {
    const runtime = geminiRuntime({ permissions: 'ask', program: ['false'] }, openPrograms());
    await expect(runtime.start(turn)).rejects.toThrow(RuntimeUnavailable);
    await expect(runtime.start(turn)).rejects.toThrow(/accept_edits, all.*acp/);
  });

  test('is cancelled, and has not crashed, when Copse stops it', async () => {
    const program = ['sh', '-c', 'exec sleep 60', 'gemini'] as const;
    const runtime = geminiRuntime({ permissions: 'all', program }, openPrograms());
    const running = await runtime.start(newTurn(area));
    await running.stop({ graceMs: 5_000 });
    expect(await running.ended).toEqual({ kind: 'cancelled' });
  });

  test('resumes only a conversation that has an answer, and only in its folder', () => {
    const folder = path.join(area, 'wörk tree');
    const project = path.join(area, '.gemini', 'tmp', 'work-tree');
    mkdirSync(path.join(project, 'chats'), { recursive: true });
    mkdirSync(folder);
    writeFileSync(path.join(project, '.project_root'), folder);
    const file = path.join(project, 'chats', 'session-2026-11-16T07-02-22222222.jsonl');
    const lines = sample('tools-record').map((line) => JSON.stringify(line));
    const place = { folder, environment: { HOME: area } };
    expect(isConversationKept(place, id)).toBe(false);
    writeFileSync(file, lines.slice(0, 3).join('\n'));
    expect(isConversationKept(place, id)).toBe(false);
    writeFileSync(file, lines.join('\n'));
    expect(isConversationKept(place, id)).toBe(true);
    expect(isConversationKept({ ...place, folder: area }, id)).toBe(false);
    expect(isConversationKept(place, id.replace(/5$/, '6'))).toBe(false);
    expect(isConversationKept(place, '../x')).toBe(false);
  });
});
