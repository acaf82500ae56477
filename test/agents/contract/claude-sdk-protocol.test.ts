/**
 * What Claude Code says through its SDK, as it was recorded (`samples/claude-sdk-*.jsonl`), and what is made of it.
 * The real program is asked in test/agents/real; here everybody can see what changes, without having it.
 */

import { readFileSync } from 'node:fs';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { ClaudeReader, type Windows } from '../../../packages/copse/src/agents/runtimes/claude/messages.ts';
import { addUsage, noUsage, type Usage } from '../../../packages/copse/src/kernel/usage.ts';
import type { RuntimeEvent, RuntimeOutcome } from '../../../packages/copse/src/agents/ports/runtime.ts';

type Message = Readonly<Record<string, unknown>>;

function sample(name: string): readonly Message[] {
  const file = new URL(`samples/claude-sdk-${name}.jsonl`, import.meta.url);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Message);
}

interface Heard {
  readonly events: readonly RuntimeEvent[];
  readonly log: string;
  readonly outcome: RuntimeOutcome | undefined;
  readonly used: Usage;
}

const NOW = 1_900_000_000_000;

function hear(messages: readonly unknown[], used: Usage = noUsage, windows: Windows = new Map()): Heard {
  const events: RuntimeEvent[] = [];
  const lines: string[] = [];
  const transcript = {
    said: (text: string) => void lines.push(text),
    used: (tool: string, what: string) => void lines.push(`• ${tool} ${what}`),
    note: (text: string) => void lines.push(`– ${text}`),
  };
  const on = (event: RuntimeEvent) => void events.push(event);
  const reader = new ClaudeReader({ used, on, transcript, windows, now: () => NOW });
  for (const message of messages) reader.take(message);
  return { events, log: lines.join('\n'), outcome: reader.outcome(), used: usedIn(events) };
}

function usedIn(events: readonly RuntimeEvent[]): Usage {
  return events.reduce((sum, event) => (event.type === 'usage' ? addUsage(sum, event.usage) : sum), noUsage);
}

function sharesIn(events: readonly RuntimeEvent[]): readonly number[] {
  return events.flatMap((event) => (event.type === 'context' ? [event.share] : []));
}

/** As versions say it that do not tell what is new. */
function older(messages: readonly Message[]): readonly Message[] {
  const isOld = ([name]: [string, unknown]) => name !== 'model_usage_since_last_result';
  return messages.map((message) => Object.fromEntries(Object.entries(message).filter(isOld)));
}

const FIRST: Usage = { input: 2_100, cached: 6_600, output: 110, dollars: 0.013_36 };
const SECOND: Usage = { input: 1_200, cached: 4_000, output: 70, dollars: 0.007 };

test('a turn reports its conversation, its steps, its usage and how full the context is', () => {
  const { events, log, outcome, used } = hear(sample('work'));
  expect(outcome).toEqual({ kind: 'completed', exitCode: 0, lastWords: 'done' });
  expect(events[0]).toEqual({ type: 'conversation', id: 'id-1' });
  expect(log).toBe('• Bash echo hi\ndone');
  expect(used).toEqual(FIRST);
  expect(sharesIn(events)).toEqual([4_501 / 1_000_000]);
});

test('tokens are reported while they are used, so a killed turn has reported them', () => {
  const { used, outcome } = hear(sample('work').slice(0, -1));
  expect(outcome).toBeUndefined();
  expect(used).toEqual({ input: 2_100, cached: 6_600, output: 2, dollars: null });
});

test.each([
  ['that tells what is new', sample('resumed')],
  ['whose counters only go on', older(sample('resumed'))],
])('a resumed conversation reports only new usage, by a program %s', (_, messages) => {
  const { used } = hear(messages, FIRST);
  expect(used).toMatchObject({ input: SECOND.input, cached: SECOND.cached, output: SECOND.output });
  expect(used.dollars).toBeCloseTo(SECOND.dollars!, 9);
});

test('two results of one program are reported once each', () => {
  const messages = [...sample('work'), ...sample('resumed')];
  for (const both of [messages, older(messages)])
    expect(hear(both).used).toMatchObject({ input: 3_300, cached: 10_600, output: 180 });
});

test('a message in parts is counted once, and reports once how full the context is', () => {
  const [init, assistant, , , result] = sample('work');
  const parts = [init, assistant, assistant, assistant];
  const windows = new Map([['claude-opus-5-5', 10_000]]);
  expect(hear(parts, noUsage, windows).used).toMatchObject({ input: 1_000, cached: 3_200 });
  expect(sharesIn(hear(parts, noUsage, windows).events)).toEqual([0.420_1]);
  expect(sharesIn(hear([...parts, result], noUsage, windows).events)).toEqual([0.420_1]);
});

test('tokens of a subagent cost, but do not fill the context', () => {
  const [init, assistant] = sample('work');
  const windows = new Map([['claude-opus-5-5', 10_000]]);
  const { used, events } = hear([init, { ...assistant, parent_tool_use_id: 'toolu_9' }], noUsage, windows);
  expect(used).toMatchObject({ input: 1_000, cached: 3_200 });
  expect(sharesIn(events)).toEqual([]);
});

test('a result without the size of the context leaves the default', () => {
  const [init, assistant, , , result] = sample('work');
  expect(sharesIn(hear([init, assistant, { ...result, modelUsage: {} }]).events)).toEqual([4_201 / 200_000]);
});

test.each<[string, Partial<RuntimeOutcome>]>([
  ['rate-limit', { kind: 'limit', until: (NOW + 1_000) as never }],
  ['plan-limit', { kind: 'limit', reason: expect.stringMatching(/^You've hit your limit/) as never }],
  ['server-error', { kind: 'api_error', status: 500, isRetryable: true }],
  ['unreachable', { kind: 'api_error', status: null, isRetryable: true }],
  ['unauthorised', { kind: 'api_error', status: 401, isRetryable: false }],
  ['budget', { kind: 'needs_input', question: 'It stopped at a limit: Reached maximum budget ($0.01).' }],
  ['turns', { kind: 'needs_input', question: 'It stopped at a limit: Reached maximum number of turns (1).' }],
  ['question', { kind: 'crashed' }],
])('a turn that ends with %s is not a success', (name, outcome) => {
  expect(hear(sample(name)).outcome).toMatchObject(outcome);
});

test('a limit of the plan lifts at the time that the program gave', () => {
  const messages = sample('plan-limit');
  const event = messages.find(({ type }) => type === 'rate_limit_event') as {
    rate_limit_info: { resetsAt: number };
  };
  const until = event.rate_limit_info.resetsAt * 1_000;
  expect(hear(messages).outcome).toMatchObject({ kind: 'limit', until });
});

test('the time at which a limit lifts is read from the text of an error', () => {
  const result = { ...sample('plan-limit').at(-1), result: 'Claude AI usage limit reached|1900000123' };
  expect(hear([result]).outcome).toMatchObject({ kind: 'limit', until: 1_900_000_123_000 });
});

test('a limit with an impossible time lifts at an unknown time', () => {
  const info = { status: 'rejected', resetsAt: 1e300 };
  const messages = [{ type: 'rate_limit_event', rate_limit_info: info }, sample('plan-limit').at(-1)];
  expect(hear(messages).outcome).toMatchObject({ kind: 'limit', until: null });
});

test('a warning about a limit is not a limit', () => {
  const warning = {
    type: 'rate_limit_event',
    rate_limit_info: { status: 'allowed_warning', resetsAt: 1_900_000_123 },
  };
  expect(hear([warning, ...sample('server-error')]).outcome).toMatchObject({ kind: 'api_error' });
});

test('an error instead of an answer reports no usage and no context', () => {
  expect(hear(sample('rate-limit')).events).toEqual([{ type: 'conversation', id: 'id-1' }]);
  expect(hear(sample('rate-limit')).log).toContain(
    '– The model answers with status 429: retry 1 of 1 in 1 s.',
  );
});

test('no output of a program throws or lowers a reported number', () => {
  const known = [...sample('work'), ...sample('plan-limit'), ...sample('budget')];
  const text = fc.constantFrom(...known.map((message) => JSON.stringify(message)));
  // One of its numbers is another, or one of its parts is something else.
  const numbers = fc.tuple(
    text,
    fc.nat(30),
    fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()),
  );
  const odd = numbers.map(([message, which, value]) => {
    let seen = -1;
    const changed = message.replaceAll(/(?<=[:,[])-?\d[\d.e+-]*/g, (was) => {
      seen += 1;
      return seen === which ? JSON.stringify(value) : was;
    });
    return JSON.parse(changed) as unknown;
  });
  const broken = fc
    .constantFrom(...known)
    .chain((message) =>
      fc
        .tuple(fc.constantFrom(...Object.keys(message)), fc.jsonValue())
        .map(([name, value]): unknown => Object.assign({}, message, { [name]: value })),
    );
  fc.assert(
    fc.property(fc.array(fc.oneof(odd, broken, fc.constantFrom(...known), fc.jsonValue())), (messages) => {
      for (const event of hear(messages).events) {
        if (event.type === 'context') expect(event.share >= 0 && event.share <= 1).toBe(true);
        if (event.type !== 'usage') continue;
        const { input, cached, output, dollars } = event.usage;
        for (const count of [input, cached, output, dollars ?? 0]) expect(count).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
