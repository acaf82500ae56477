/** How tasks look on a terminal. Texts of people and agents go through `shown`. */

import { age, times } from '../../explain/rules/amounts.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { formatPriority } from '../../tasks/rules/priority.ts';
import { summarise } from '../../review/rules/pull-request.ts';
import type { TaskStatus, TaskSummary } from '../../tasks/rules/task.ts';
import { shown } from '../../kernel/text.ts';
import type { Output } from '../output.ts';

type StatusLook = readonly [mark: string, style: Parameters<Output['style']>[0]];

const looks: Readonly<Record<TaskStatus, StatusLook>> = {
  in_progress: ['*', 'cyan'],
  landing: ['>', 'cyan'],
  in_review: ['?', 'yellow'],
  stuck: ['!', 'red'],
  needs_attention: ['!', 'red'],
  failed: ['!', 'red'],
  paused: ['-', 'yellow'],
  ready: [' ', 'reset'],
  pending: ['.', 'dim'],
  done: ['✓', 'green'],
  cancelled: ['x', 'dim'],
};

/** `[*] cp-a1b2 IN_PROGRESS (15m) Add authentication`, and below it `below` or the reason for its status. */
export function taskLine(task: TaskSummary, output: Output, now: Timestamp, below?: string | null): string {
  const { state } = task;
  const [mark, style] = looks[state.status];
  const head = output.style(style, `[${mark}] ${task.id} ${state.status.toUpperCase()}`);
  const extra = extraOf(task, now);
  const tail = extra === '' ? '' : output.style('dim', `  ${extra}`);
  const line = `${head} (${age(state.since, now)}) ${shown(task.title)}${tail}`;
  const pullRequest = state.status === 'in_review' && state.pullRequest ? summarise(state.pullRequest) : null;
  const reason = below ?? pullRequest ?? ('reason' in state ? state.reason : null);
  return reason ? `${line}\n${indented(shown(reason), 6)}` : line;
}

/** As one text: a list of a thousand tasks takes twice as long with an array for each. */
function extraOf({ state, priority, dependsOn, retries }: TaskSummary, now: Timestamp): string {
  let extra = priority === defaultPolicy.task.priority ? '' : SEPARATOR + formatPriority(priority);
  if (state.status === 'in_progress') extra += SEPARATOR + shown(state.claim.agent);
  if (state.status === 'pending') extra += `${SEPARATOR}waits for ${dependsOn.join(', ')}`;
  const isAboutToRun = state.status === 'ready' || state.status === 'in_progress';
  if (isAboutToRun && retries > 0) extra += `${SEPARATOR}crashed ${times(retries)}`;
  const delay = state.status === 'ready' ? state.delay : null;
  if (delay !== null && delay.until > now)
    extra += `${SEPARATOR}${delay.because === 'rate_limit' ? 'rate limited' : 'waits'} ${age(now, delay.until)}`;
  return extra.slice(SEPARATOR.length);
}

const SEPARATOR = ' · ';

export function indented(text: string, by: number): string {
  return text.replaceAll(/^/gm, ' '.repeat(by));
}

/** `name   value`, aligned; rows without a value are left out. */
export function fields(rows: readonly (readonly [name: string, value: string | null])[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(width)}  ${value}`]));
}
