/** The overview on screens of several sizes, as text pictures: pictures/ is to be read in a diff. */

import { styleText } from 'node:util';

import { describe, expect, test } from 'vitest';

import type { Overview } from '../../../packages/copse/src/explain/rules/overview.ts';
import {
  type AgentName,
  type BranchName,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { type TaskStatus, taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';
import { panelLines, panels, shares } from '../../../packages/copse/src/cli/screen/panels.ts';
import { widthOfText } from '../../../packages/copse/src/cli/screen/screen.ts';
import { memoryScreen } from '../../support/screen.ts';

const NOW = timestamp(1_800_000_000_000);
const plain = (_: unknown, text: string) => text;
const coloured: Parameters<typeof panelLines>[2] = (style, text) =>
  styleText(style, text, { validateStream: false });

const titles = [
  'Add a login page that works without JavaScript and remembers the last user',
  'Rename the config loader',
  '日本語のタイトルはとても広いので切る場所が大切です、注意してください',
  'Fix 🎉 emoji ✅ handling ⚡ in the 👩‍👩‍👧‍👦 renderer',
  'Größere Schrift für ältere Augen',
];
const title = (index: number) => titles[index % titles.length] ?? '';
const id = (letter: string, index: number) => brand<TaskId>(`cp-${letter}${String(index).padStart(3, '0')}`);
const ago = (minutes: number) => timestamp(NOW - minutes * 60_000);
const agents = ['claude', 'codex', 'gemini'];
const phases = ['planning', 'working', 'reviews_in_progress'];
const outputs = ['running 14 tests …', null, 'Edited src/auth/login.ts (+14 −3)', '林'.repeat(80)];

const needs = [
  [
    'question',
    'Its agent asks for a decision: Delete the old table, or keep both for a release?',
    'restart %',
  ],
  ['permission', 'asks to use Bash: npm install --save-dev left-pad', 'answer %'],
  ['attention', 'The branch of cp-n002 conflicts with main', 'resume %'],
  ['failed', 'failed after 3 attempts; last error: the agent ended with exit code 137', 'restart %'],
  ['review', 'finished, waiting for your review', 'review %'],
] as const;

interface Sizes {
  readonly needs?: number;
  readonly working?: number;
  readonly landing?: number;
  readonly ready?: number;
  readonly others?: Partial<Record<TaskStatus, number>>;
  readonly isOrchestrated?: boolean;
}

function overviewOf({
  needs: asked = 0,
  working = 0,
  landing = 0,
  ready = 0,
  others = {},
  isOrchestrated = true,
}: Sizes): Overview {
  const counts = Object.fromEntries(taskStatuses.map((status) => [status, 0]));
  const range = (length: number) => Array.from({ length }, (_, index) => index);
  return {
    at: NOW,
    counts: {
      ...counts,
      stuck: asked,
      in_progress: working,
      landing,
      ready,
      ...others,
    } as Overview['counts'],
    needsYou: range(asked).map((index) => {
      const [kind, reason, command] = needs[index % needs.length] ?? needs[0];
      return {
        task: id('n', index),
        title: title(index),
        status: 'stuck',
        since: ago(3 + index * 20),
        kind,
        reason,
        details: reason,
        command: `copse ${command.replace('%', id('n', index))}`,
        unblocks: Math.max(0, 4 - index),
        agent: null,
      };
    }),
    working: range(working).map((index) => ({
      task: id('w', index),
      title: title(index),
      status: 'in_progress',
      since: ago(90 - index),
      agent: brand<AgentName>(agents[index % agents.length] ?? ''),
      isByHand: index === 4,
      phase: index === 4 ? null : (phases[index % phases.length] ?? ''),
      node: null,
      lastLine: outputs[index % outputs.length] ?? null,
    })),
    landing: range(landing).map((index) => ({
      task: id('m', index),
      title: title(index),
      status: 'landing',
      since: ago(2),
      target: brand<BranchName>('main'),
      position: index + 1,
      of: landing,
      why: index === 0 ? 'being checked with cp-m001 on main' : `waits for a free slot, behind ${id('m', 0)}`,
    })),
    ready: range(Math.min(ready, 50)).map((index) => ({
      task: id('r', index),
      title: title(index),
      status: 'ready',
      since: ago(600),
      why: 'At most 15 agents run here at once (policy.max_agents).',
    })),
    isOrchestrated,
    noAgents: null,
  };
}

const busy = overviewOf({ needs: 5, working: 15, landing: 3, ready: 40, others: { pending: 12, done: 30 } });

/** As a terminal shows it. */
async function pictureOf(overview: Overview, columns: number, rows: number): Promise<string> {
  const screen = memoryScreen(columns, rows);
  const lines = panelLines(overview, { columns, rows }, coloured);
  expect(lines.length).toBeLessThanOrEqual(rows);
  for (const line of lines) expect(widthOfText(line)).toBeLessThanOrEqual(columns);
  await screen.write(lines.join('\r\n'));
  // None of them was broken by the terminal.
  expect(screen.picture().length).toBe(lines.length);
  return `${screen.picture().join('\n')}\n`;
}

describe('fifteen agents, five tasks that need a person and forty that are ready', () => {
  test('fit 80×24', async () => {
    await expect(await pictureOf(busy, 80, 24)).toMatchFileSnapshot('pictures/busy-80x24.txt');
  });

  test('use the room of 120×40', async () => {
    const picture = await pictureOf(busy, 120, 40);
    await expect(picture).toMatchFileSnapshot('pictures/busy-120x40.txt');
    for (let index = 0; index < 15; index += 1) expect(picture).toContain(id('w', index));
  });

  test('show every task that needs a person with its whole command, on both', () => {
    for (const [columns, rows] of [
      [80, 24],
      [120, 40],
    ] as const) {
      const text = panelLines(busy, { columns, rows }, plain).join('\n');
      for (const { command } of busy.needsYou) expect(text).toContain(`→ ${command}`);
    }
  });
});

test('only a line of the agent has the bar, not what Copse says of its runner', () => {
  const [one] = overviewOf({ working: 1 }).working;
  if (one === undefined) throw new Error('none works');
  const silent = 'Its runner has not been heard from for 34 s (lease: 30 s).';
  const working = [one, { ...one, task: id('w', 1), lastLine: silent, isLapsed: true as const }];
  const lines = panelLines({ ...overviewOf({ working: 2 }), working }, { columns: 80, rows: 24 }, plain);
  expect(lines).toContain('    │ running 14 tests …');
  expect(lines).toContain(`    ${silent}`);
});

test('a command that does not fit is not cut: copse why, which has all of it, stands there', () => {
  const [need] = busy.needsYou;
  if (need === undefined) throw new Error('no need');
  const command = `${need.command} --command '${'./agents/mine.sh '.repeat(8)}'`;
  const overview: Overview = { ...busy, needsYou: [{ ...need, command }, ...busy.needsYou.slice(1)] };
  const lines = (columns: number) => panelLines(overview, { columns, rows: 24 }, plain).join('\n');
  expect(lines(80)).toContain(`…  → copse why ${need.task}`);
  expect(lines(240)).toContain(`→ ${command}`);
});

describe('other boards', () => {
  test.each([
    ['quiet', overviewOf({ needs: 1, working: 2, ready: 1 })],
    ['idle', overviewOf({ ready: 2, others: { done: 3 }, isOrchestrated: false })],
    ['empty', overviewOf({ isOrchestrated: false })],
    ['done', overviewOf({ others: { done: 8, cancelled: 1 }, isOrchestrated: false })],
  ] as const)('%s, at 80×24', async (name, overview) => {
    await expect(await pictureOf(overview, 80, 24)).toMatchFileSnapshot(`pictures/${name}-80x24.txt`);
  });
});

test('without an agent that can run, it does not say that nothing needs a person', () => {
  const idle = {
    ...overviewOf({ needs: 0, working: 0, landing: 0, ready: 1, others: {} }),
    isOrchestrated: false,
  };
  const size = { columns: 80, rows: 24 };
  expect(panelLines(idle, size, plain).slice(1, 3)).toEqual([
    'Nothing needs you.',
    'No orchestrator is running here. Start one: copse orchestrate',
  ]);
  const noAgents = { text: 'No agent is installed or configured.', command: 'copse agents detect' };
  expect(panelLines({ ...idle, noAgents }, size, plain)[1]).toBe(
    'No agent is installed or configured. Try: copse agents detect',
  );
});

test('a running agent that waits for a person counts once, as one that needs you', () => {
  const overview = overviewOf({ needs: 1, working: 1 });
  const [need] = overview.needsYou;
  if (need === undefined) throw new Error('no need');
  const asking: Overview = {
    ...overview,
    counts: { ...overview.counts, stuck: 0, in_progress: 2 },
    needsYou: [{ ...need, kind: 'waiting', status: 'in_progress' }],
  };
  const [first] = panelLines(asking, { columns: 80, rows: 24 }, plain);
  expect(first).toBe('1 needs you · 1 working');
});

test('a task that needs you is counted once: neither as pending, nor as landing or in review', () => {
  const overview = overviewOf({ needs: 3, landing: 1 });
  const statuses = ['pending', 'landing', 'in_review'] as const;
  const asking: Overview = {
    ...overview,
    counts: { ...overview.counts, stuck: 0, pending: 2, landing: 2, in_review: 3, needs_attention: 1 },
    needsYou: overview.needsYou.map((need, index) => Object.assign({}, need, { status: statuses[index] })),
  };
  const lines = panelLines(asking, { columns: 80, rows: 60 }, plain);
  expect(lines[0]).toBe('3 need you · 1 landing · 1 being resolved · 2 in review · 1 pending');
  expect(lines.at(-1)).toBe('Pending tasks: copse list --status pending');
  const none: Overview = { ...asking, counts: { ...asking.counts, pending: 1 } };
  expect(panelLines(none, { columns: 80, rows: 60 }, plain).join('\n')).not.toContain('--status pending');
});

describe('a shortened screen', () => {
  test('is never wider or longer than the terminal, at any size', () => {
    const crowds = [
      busy,
      overviewOf({ needs: 20, working: 20, landing: 20, ready: 20 }),
      overviewOf({ needs: 1 }),
    ];
    for (const overview of crowds)
      for (const columns of [1, 7, 33, 80, 200])
        for (const rows of [1, 3, 5, 8, 24, 60]) {
          const lines = panelLines(overview, { columns, rows }, coloured);
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) expect(widthOfText(line)).toBeLessThanOrEqual(columns);
        }
  });

  test('shows tasks that need a person before everything else', () => {
    const crowd = overviewOf({ needs: 30, working: 60, landing: 60, ready: 400 });
    const lines = panels(crowd, { columns: 80, rows: 24 }, plain);
    const asked = new Set(lines.flatMap(({ task }) => (task?.startsWith('cp-n') ? [task] : [])));
    expect(asked.size).toBeGreaterThanOrEqual(7);
    expect([...asked][0]).toBe(id('n', 0));
    for (const rows of [6, 8, 10])
      expect(panelLines(crowd, { columns: 80, rows }, plain).join('\n')).toContain(id('n', 0));
  });

  test('counts those that it leaves out, and names the command that lists them', () => {
    const lines = panels(busy, { columns: 80, rows: 24 }, plain);
    const all = new Set(lines.flatMap(({ task }) => task ?? []));
    const shown = (letter: string) => [...all].filter((one) => one.startsWith(`cp-${letter}`)).length;
    const text = lines.map((line) => line.text).join('\n');
    expect(text).toContain(`… and ${15 - shown('w')} more: copse list --status in_progress`);
    expect(text).toContain(`… and ${40 - shown('r')} more: copse list --status ready`);
  });

  test('counts ready tasks that were not read', () => {
    const text = panelLines(overviewOf({ ready: 400 }), { columns: 80, rows: Infinity }, plain).join('\n');
    expect(text).toContain('READY (400)');
    expect(text).toContain('… and 350 more: copse list --status ready');
  });
});

test('room is shared fairly: first those that come first, then by weight, none more than it wants', () => {
  expect(shares([10, 15, 3, 40], [0, 2, 1, 1], 18)).toEqual([10, 4, 2, 2]);
  expect(shares([10, 1, 1, 40], [0, 2, 1, 1], 18)).toEqual([10, 1, 1, 6]);
  expect(shares([100, 5, 5, 5], [0, 2, 1, 1], 18)).toEqual([15, 1, 1, 1]);
  expect(shares([2, 3], [0, 1], 100)).toEqual([2, 3]);
  expect(shares([2, 3], [0, 1], -4)).toEqual([0, 0]);
});
