/** An overview with a bit of everything: what each screen shows of it is a picture in the tests. */

import type { NeedsYou, Overview, WorkingTask } from '../../../packages/copse/src/explain/rules/overview.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';

export const now = timestamp(Date.UTC(2026, 10, 20, 12, 0, 0));
const minutesAgo = (minutes: number) => timestamp(now - minutes * 60_000);
const task = (id: string): TaskId => brand<TaskId>(`cp-${id}`);

const needs: readonly NeedsYou[] = [
  {
    task: task('a1b2'),
    title: 'Round the temperature',
    status: 'stuck',
    since: minutesAgo(3),
    kind: 'question',
    reason: 'asks: Round to whole degrees, or keep one decimal?',
    details: 'Round to whole degrees, or keep one decimal?\nBoth are easy to change later.',
    command: 'copse restart cp-a1b2 --answer "…"',
    unblocks: 2,
    agent: brand('dan'),
  },
  {
    task: task('c3d4'),
    title: 'Install the parser',
    status: 'in_progress',
    since: minutesAgo(1),
    kind: 'permission',
    reason: 'its agent asks to use Bash: npm install nearley',
    details: 'The agent asks to use Bash (waiting 1m):\nnpm install nearley',
    command: 'copse answer cp-c3d4 allow',
    unblocks: 0,
    agent: brand('ada'),
  },
  {
    task: task('e5f6'),
    title: 'Größe und 多言語 in titles that are much longer than a terminal of eighty columns',
    status: 'in_review',
    since: minutesAgo(12),
    kind: 'review',
    reason: 'waits for your review',
    details: 'waits for your review',
    command: 'copse review cp-e5f6',
    unblocks: 0,
    agent: brand('ben'),
  },
  {
    task: task('g7h8'),
    title: 'Greet politely',
    status: 'needs_attention',
    since: minutesAgo(5),
    kind: 'attention',
    reason: 'conflicts with the target in src/greet.js',
    details: 'conflicts with the target\nsrc/greet.js: both sides changed line 2',
    command: 'copse resume cp-g7h8',
    unblocks: 0,
    agent: brand('cleo'),
  },
];

function workingTask(index: number): WorkingTask {
  return {
    task: task(`w${String(index).padStart(3, '0')}`),
    title: `Work on part ${index}`,
    status: 'in_progress',
    since: minutesAgo(index),
    agent: brand(['ada', 'ben', 'cleo'][index % 3] ?? 'ada'),
    isByHand: false,
    phase: 'working',
    node: null,
    lastLine: `tests ${index} of 15 passed`,
    ...(index === 1 && { hasTerminal: true }),
  };
}

export function overviewOf(working: number): Overview {
  const counts = Object.fromEntries(taskStatuses.map((status) => [status, 0])) as Record<
    (typeof taskStatuses)[number],
    number
  >;
  return {
    at: now,
    counts: {
      ...counts,
      stuck: 1,
      in_review: 1,
      needs_attention: 1,
      in_progress: working + 1,
      landing: 1,
      ready: 2,
      paused: 1,
      done: 7,
    },
    needsYou: needs,
    working: Array.from({ length: working }, (_, index) => workingTask(index + 1)),
    landing: [
      {
        task: task('k9m2'),
        title: 'Convert Celsius',
        status: 'landing',
        since: minutesAgo(2),
        target: brand('main'),
        position: 1,
        of: 1,
        why: 'being checked on main',
      },
    ],
    ready: [
      {
        task: task('r1'),
        title: 'Write the notes',
        status: 'ready',
        since: minutesAgo(20),
        why: 'All agents are busy.',
      },
      {
        task: task('r2'),
        title: 'Export all',
        status: 'ready',
        since: minutesAgo(21),
        why: 'All agents are busy.',
      },
    ],
    isOrchestrated: true,
    noAgents: null,
  };
}

export const pausedTasks = [
  { task: task('p1'), title: 'Later', status: 'paused', since: minutesAgo(40) },
] as const;
