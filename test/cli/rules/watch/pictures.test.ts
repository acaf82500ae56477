/** What `copse watch` looks like. To accept a new picture after reading it: npm test -- test/cli/rules/watch -u */

import { describe, expect, test } from 'vitest';

import { KeyParser } from '../../../../packages/copse/src/cli/screen/keys.ts';
import type { WatchState } from '../../../../packages/copse/src/cli/watch/model.ts';
import { Renderer } from '../../../../packages/copse/src/cli/watch/renderer.ts';
import { firstState, press, updated } from '../../../../packages/copse/src/cli/watch/state.ts';
import { frameOf, pageLines } from '../../../../packages/copse/src/cli/watch/view.ts';
import { timestamp } from '../../../../packages/copse/src/kernel/ids.ts';
import { now, overviewOf, pausedTasks } from '../../../support/watch/overviews.ts';
import { memoryScreen } from '../../../support/screen.ts';

const plain = (_: unknown, text: string) => text;

function begun(working: number): WatchState {
  return updated(firstState, { overview: overviewOf(working), paused: pausedTasks }, now);
}

function typed(state: WatchState, keys: string): WatchState {
  const parser = new KeyParser();
  let next = state;
  for (const key of [...parser.feed(Buffer.from(keys)), ...parser.flush()])
    next = press(next, key, { rows: 24, now }).state;
  return next;
}

async function picture(state: WatchState, columns: number, rows: number): Promise<string> {
  const screen = memoryScreen(columns, rows);
  const size = { columns, rows };
  await screen.write(new Renderer().render(frameOf(state, size, plain, now), size));
  const lines = screen.picture();
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  return `${lines.join('\n')}\n`;
}

const sizes = [
  [80, 24],
  [120, 40],
] as const;

const scenes: readonly (readonly [name: string, state: () => WatchState])[] = [
  ['usual', () => begun(3)],
  ['fifteen agents', () => begun(15)],
  ['the last agent selected', () => typed(begun(15), 'jjjjjjjjjjjjjjjjjj')],
  ['answering', () => typed(begun(3), 'aone decimal')],
  ['cancelling', () => typed(begun(3), 'jjjc')],
  ['filter', () => typed(begun(3), '/cleo')],
  ['help', () => typed(begun(3), '?')],
  ['refused', () => typed(begun(3), 'A')],
  [
    'without the board',
    () => ({ ...begun(3), problem: 'The server at 127.0.0.1 does not answer. Start it.' }),
  ],
];

describe.each(sizes)('at %i×%i', (columns, rows) => {
  test.each(scenes)('%s', async (name, state) => {
    const file = `pictures/${name.replaceAll(' ', '-')}-${columns}x${rows}.txt`;
    await expect(await picture(state(), columns, rows)).toMatchFileSnapshot(file);
  });
});

test('whatever the size, what needs a person comes first, and the keys are in the last line', async () => {
  for (const [columns, rows] of [
    [40, 10],
    [60, 15],
    [200, 60],
  ] as const) {
    const lines = (await picture(begun(15), columns, rows)).trimEnd().split('\n');
    expect(lines.length).toBe(rows);
    expect(lines[0]).toContain('4 need you');
    expect(lines.slice(1, 4).join('\n')).toContain('NEEDS YOU');
    expect(lines.join('\n')).toContain('▸ ? cp-a1b2');
    expect(lines.at(-1)).toMatch(/^a answer .*q quit$/);
  }
});

test('a filter that hides them does not hide how many tasks need a person', async () => {
  const screen = await picture({ ...begun(3), filter: 'no task has this word' }, 80, 24);
  expect(screen).toMatch(/^copse watch {2}4 need you · 3 working /);
  expect(screen).not.toContain('Nothing needs you');
  expect(screen).not.toContain('NEEDS YOU');
});

test('a terminal of one line and one column is no fault', async () => {
  for (const [columns, rows] of [
    [1, 1],
    [2, 3],
    [10, 2],
  ] as const)
    expect((await picture(begun(3), columns, rows)).split('\n').length).toBeLessThanOrEqual(rows + 1);
});

test('after a second only ages are written, and nothing for a frame that is the same', () => {
  const renderer = new Renderer();
  const size = { columns: 80, rows: 24 };
  const draw = (at: number) => renderer.render(frameOf(begun(3), size, plain, timestamp(at)), size);
  const whole = draw(now);
  expect(draw(now)).toBe('');
  expect(draw(now + 60_000).length).toBeLessThan(whole.length);
});

// promise: terminal-safe
test('text of agents cannot send control sequences, wherever it is shown', () => {
  const attack = '\u001b[2J\u001b]0;owned\u0007\u009b31m\rover\u0008\u007f\u202edcba\n\tnext';
  const overview = JSON.parse(JSON.stringify(overviewOf(3))) as ReturnType<typeof overviewOf>;
  const words = { title: attack, reason: attack, details: attack, lastLine: attack, why: attack };
  const { needsYou, working, landing, ready } = overview;
  for (const task of [...needsYou, ...working, ...landing, ...ready]) Object.assign(task, words);
  const state = updated(firstState, { overview, paused: [{ ...pausedTasks[0], title: attack }] }, now);
  const size = { columns: 200, rows: 60 };
  const states: readonly WatchState[] = [
    state,
    typed(state, 'a'),
    typed(state, 'c'),
    { ...state, problem: attack },
    { ...state, filter: 'next' },
    { ...state, message: { kind: 'done', lines: [attack, attack] } },
    { ...state, mode: { kind: 'page', title: 'x', lines: pageLines(attack, 80), top: 0, isFollowed: false } },
  ];
  for (const one of states) {
    const { lines } = frameOf(one, size, plain, now);
    expect(
      lines.filter((line) => /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(line)),
    ).toEqual([]);
  }
});
