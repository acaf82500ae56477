/** The lines of tmux's control mode, the buffer of output, and what a person may type. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  LineCutter,
  parseControlLine,
  unescaped,
} from '../../../packages/copse/src/processes/control/lines.ts';
import { drawn, parseScreenFacts } from '../../../packages/copse/src/processes/control/screen.ts';
import type { AttemptLogs } from '../../../packages/copse/src/agents/ports/logs.ts';
import {
  type AttemptId,
  type NodeId,
  type SessionId,
  type TaskId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { LogSource } from '../../../packages/copse/src/server/output/log-source.ts';
import { TakeOverWatch } from '../../../packages/copse/src/server/output/take-over-watch.ts';
import { OutputBuffer } from '../../../packages/copse/src/server/output/buffer.ts';
import { parseTyped } from '../../../packages/copse/src/server/output/frames.ts';
import type { Typed } from '../../../packages/copse/src/processes/ports/terminal.ts';
import { Typing } from '../../../packages/copse/src/server/output/typing.ts';

/** As tmux writes output. */
function escaped(bytes: Uint8Array): Buffer {
  const parts = Array.from(bytes, (byte) =>
    byte < 32 || byte === 92 ? Buffer.from(`\\${byte.toString(8).padStart(3, '0')}`) : Buffer.from([byte]),
  );
  return Buffer.concat(parts);
}

describe('a line of control mode', () => {
  test('gives back every byte of output, and has no line feed in it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const line = Buffer.concat([Buffer.from('%extended-output %3 0 : '), escaped(bytes)]);
        expect(line.includes(10)).toBe(false);
        expect(parseControlLine(line)).toEqual({ kind: 'output', pane: '%3', bytes: Buffer.from(bytes) });
      }),
    );
  });

  test.each([
    [String.raw`\8\99\400\777\1`, String.raw`\8\99\400\777\1`],
    [String.raw`\134\012\177\377x`, '\\\n\u007f\u00ffx'],
  ])('decodes only what tmux escapes: %s', (text, wanted) => {
    expect(unescaped(Buffer.from(text)).toString('latin1')).toBe(wanted);
  });

  test.each([
    ['%begin 1 2 1', { kind: 'begin', number: '2', isOurs: true }],
    ['%error 1 2 0', { kind: 'error', number: '2', isOurs: false }],
    ['%end 1 2 1 ', { kind: 'notice', name: 'end' }],
    ['%exit too far behind', { kind: 'notice', name: 'exit' }],
    [' %end 1 2 1', { kind: 'text' }],
    ['', { kind: 'text' }],
  ])('is known by its whole text: %s', (text, wanted) => {
    expect(parseControlLine(Buffer.from(text))).toMatchObject(wanted);
  });

  test('is cut out of pieces of any size, and is bounded', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 }), (pieces) => {
        const cutter = new LineCutter(10_000);
        const lines = pieces.flatMap((piece) => cutter.take(Buffer.from(piece)) ?? expect.fail('too long'));
        const wanted = Buffer.concat(pieces).toString('latin1').split('\n').slice(0, -1);
        expect(lines.map((line) => line.toString('latin1'))).toEqual(wanted);
      }),
    );
    const cutter = new LineCutter(10);
    expect(cutter.take(Buffer.from('123456\n789'))).toHaveLength(1);
    expect(cutter.take(Buffer.from('01234567'))).toBeUndefined();
  });
});

test('a screen is drawn with its size, modes and cursor, from numbers only', () => {
  const facts = parseScreenFacts('80 24 3 4 0 23 1 0 0 1 0 1 0 1 0 0 1') ?? expect.fail('no facts');
  const { drawing, ...size } = drawn(facts, [Buffer.from('a'), Buffer.from('b')]);
  expect(size).toEqual({ columns: 80, rows: 24 });
  expect(Buffer.from(drawing).toString().replaceAll('\u001b', '^')).toBe(
    '^[?1049h^[0m^[H^[2Ja\r\nb^[0m^[1;24r^[?25l^[?1h^[?1000h^[?1006h^[5;4H',
  );
  expect([parseScreenFacts(''), parseScreenFacts('can’t find pane'), parseScreenFacts('0 0')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('the buffer has the last bytes at the offsets that all bytes had', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), fc.nat(60), (pieces, most) => {
      const buffer = new OutputBuffer(32);
      for (const piece of pieces) buffer.append(piece);
      const all = Buffer.concat(pieces);
      expect([buffer.start, buffer.end]).toEqual([Math.max(0, all.length - 32), all.length]);
      for (let from = buffer.start; from <= buffer.end; from += 1)
        expect(buffer.read(from, most).equals(all.subarray(from, from + most))).toBe(true);
      buffer.skip();
      expect([buffer.start, buffer.end]).toEqual([all.length + 1, all.length + 1]);
    }),
  );
});

test.each([
  '',
  'null',
  '[]',
  '{}',
  '{"kind":"type","id":1}',
  '{"kind":"type","id":1.5,"text":"x"}',
  '{"kind":"type","id":1,"text":"x","more":1}',
])('is no input: %s', (text) => {
  expect(parseTyped(text)).toBeUndefined();
});

test('an input is a text with a number', () => {
  expect(parseTyped('{"kind":"type","id":1,"text":"ä\\r"}')).toEqual({ id: 1, text: 'ä\r' });
});

describe('inputs of a page', () => {
  function typing(refuse: () => Promise<null>, end: Typed = 'typed') {
    const typed: string[] = [];
    const replies: unknown[] = [];
    const now = { ms: 0, closed: 0 };
    const one = new Typing({
      limits: { typedBytes: 100, typedBytesPerSecond: 200, leastTypedBytes: 64, waitingInputs: 3 },
      refuse,
      type: (bytes) => {
        typed.push(Buffer.from(bytes).toString());
        return Promise.resolve(end);
      },
      reply: ({ data }) => replies.push(JSON.parse(data.toString())),
      tooMuch: () => (now.closed += 1),
      nowMs: () => now.ms,
    });
    const take = (text: string, id = 1) => one.take(JSON.stringify({ kind: 'type', id, text }));
    return { take, typed, replies, now };
  }

  test('are bounded in each second, and each is typed whole or not at all', async () => {
    const { take, typed, replies, now } = typing(() => Promise.resolve(null));
    for (const id of [1, 2, 3]) take(String(id).repeat(90), id);
    await expect.poll(() => replies).toHaveLength(3);
    now.ms = 1_000;
    take('4'.repeat(90), 4);
    await expect.poll(() => typed.map((text) => text[0])).toEqual(['1', '2', '4']);
    expect(replies[2]).toMatchObject({ kind: 'refused', id: 3, code: 'busy' });
  });

  test.each([
    ['not_typed', 'wrong_status', 'nothing was typed'],
    ['unknown', 'unknown', 'part of it may have been typed'],
  ] as const)('are refused when the terminal ended: %s', async (end, code, reason) => {
    const { take, replies } = typing(() => Promise.resolve(null), end);
    take('x');
    await expect.poll(() => replies).toHaveLength(1);
    expect(replies).toEqual([
      expect.objectContaining({ kind: 'refused', id: 1, code, reason: expect.stringContaining(reason) }),
    ]);
  });

  test('wait for their turn; too many of them end the page', () => {
    const { take, now } = typing(() => new Promise(() => {}));
    for (const id of [1, 2, 3, 4, 5]) take('x', id);
    expect(now.closed).toBe(2);
  });

  test('are refused while the board cannot be read', async () => {
    const { take, typed, replies } = typing(() => Promise.reject(new Error('away')));
    take('x');
    await expect
      .poll(() => replies)
      .toEqual([expect.objectContaining({ kind: 'refused', code: 'unavailable' })]);
    expect(typed).toEqual([]);
  });
});

test('a log that the agent made unreadable ends no server, and is read on when it can be', async () => {
  const bytes = Buffer.from('onetwo');
  const now = { size: 3, isUnreadable: false };
  const logs: AttemptLogs = {
    folderOf: () => undefined,
    find: () => {
      if (now.isUnreadable) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
      return { file: '/log', bytes: now.size };
    },
    read: (_, from, most) => bytes.subarray(from, Math.min(now.size, from + most)),
  };
  const log = { task: brand<TaskId>('cp-aaaa'), attempt: brand<AttemptId>('at-aaaa'), isOfRunner: false };
  const source = new LogSource(logs, log, { ...defaultPolicy.terminals, coalesceMs: 1 });
  const { signal } = new AbortController();
  const first = await source.read({ stream: log.attempt, at: 0 }, signal);
  now.isUnreadable = true;
  await expect
    .poll(() => source.read({ stream: log.attempt, at: 3 }, signal))
    .toMatchObject({ kind: 'gap', to: 0 });
  Object.assign(now, { size: 6, isUnreadable: false });
  await expect
    .poll(() => source.begin(undefined).at === 0 && source.read({ stream: log.attempt, at: 3 }, signal))
    .toMatchObject({ kind: 'output', at: 3, bytes: Buffer.from('two') });
  expect(first).toMatchObject({ kind: 'output', bytes: Buffer.from('one') });
  source.close();
});

test('a terminal that could not be given back, because the board was away, is given back later', async () => {
  const [task, session] = [brand<TaskId>('cp-aaaa'), brand<SessionId>('se-aaaa')];
  const node = brand<NodeId>('n-aaaa');
  const records = {
    session: { id: session, task, takenOver: { person: 'anna', isKept: false } },
    task: { id: task, state: { status: 'in_progress', claim: { session, node } } },
  };
  let failures = 0;
  const told: string[] = [];
  const given: TaskId[] = [];
  const watch = new TakeOverWatch({
    board: {
      tasks: () => Promise.resolve([]),
      get: (kind) => {
        if (kind === 'session' && (failures += 1) === 1) return Promise.reject(new Error('away'));
        return Promise.resolve(records[kind as 'task'] as never);
      },
    },
    node,
    giveBack: (id) => Promise.resolve(void given.push(id)),
    hasOtherServers: () => Promise.resolve(false),
    onProblem: (text) => told.push(text),
    afterMs: 1,
  });
  watch.opened(session);
  watch.closed(session);
  await expect.poll(() => given).toEqual([task]);
  expect(told).toEqual([expect.stringContaining('retrying')]);
  watch.close();
});
