/** How tasks look on a terminal. Texts of people and agents go through `shown`. */

import { reportedPhase } from '../../agents/rules/session/session.ts';
import { age, times } from '../../explain/rules/amounts.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { formatPriority } from '../../tasks/rules/priority.ts';
import { summarise } from '../../review/rules/pull-request.ts';
import type { TaskStatus, TaskSummary } from '../../tasks/rules/task.ts';
import { shown } from '../../kernel/text.ts';
import { type ReasonFacts, reasonLine } from '../../explain/rules/reason.ts';
import type { Output } from '../output.ts';
import { cutAtWords, widthOfText } from './screen.ts';

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

export interface ListLook {
  readonly output: Output;
  readonly now: Timestamp;
  /** Infinity where lines are not cut. */
  readonly columns: number;
}

/** Lines are cut on a terminal only: programs read whole lines. */
export function columnsFor(output: Output): number {
  return output.isTerminal ? output.columns() : Infinity;
}

/** As `taskLine`, but each of the two lines fits the terminal; `reserved` columns of the first one stay free. */
export function listLine(
  task: TaskSummary,
  facts: ReasonFacts,
  { output, now, columns }: ListLook,
  reserved = 0,
): string {
  const { state } = task;
  const [mark, style] = looks[state.status];
  const head = `[${mark}] ${task.id} ${state.status.toUpperCase()}`;
  const since = ` (${age(state.since, now)}) `;
  let title = shown(task.title);
  let extra = extraOf(task, now, facts);
  if (columns !== Infinity)
    [title, extra] = fitted(title, extra, columns - head.length - since.length - reserved);
  const tail = extra === '' ? '' : output.style('dim', `  ${extra}`);
  const line = output.style(style, head) + since + title + tail;
  const reason = reasonLine(task, facts, now);
  return reason ? `${line}\n      ${cutAtWords(shown(reason), columns - REASON_AT)}` : line;
}

const REASON_AT = 6;
/** What follows a title may take its room only down to this. */
const LEAST_TITLE = 24;
const LEAST_EXTRA = 6;

function fitted(title: string, extra: string, room: number): readonly [title: string, extra: string] {
  const [titleColumns, extraColumns] = [widthOfText(title), extra === '' ? 0 : widthOfText(extra) + 2];
  if (titleColumns + extraColumns <= room) return [title, extra];
  const least = Math.min(titleColumns, LEAST_TITLE);
  const cut = cutAtWords(title, Math.min(room, Math.max(least, room - extraColumns)));
  const left = room - widthOfText(cut) - 2;
  return [cut, left < LEAST_EXTRA ? '' : cutAtWords(extra, left)];
}

/** As one text: a list of a thousand tasks takes twice as long with an array for each. */
function extraOf(
  { state, priority, dependsOn, retries }: TaskSummary,
  now: Timestamp,
  { session, node }: ReasonFacts = {},
): string {
  const urgency = priority === defaultPolicy.task.priority ? '' : formatPriority(priority);
  // Most tasks of a long list.
  if (state.status === 'ready' && state.delay === null && retries === 0) return urgency;
  let extra = urgency === '' ? '' : SEPARATOR + urgency;
  if (state.status === 'in_progress')
    extra += SEPARATOR + shown(state.claim.agent) + (node === undefined ? '' : ` on ${shown(node)}`);
  else if (session !== undefined) extra += SEPARATOR + shown(session.agent);
  const phase = session?.state.life === 'live' ? reportedPhase(session.state.phase) : null;
  if (state.status === 'in_progress' && phase !== null) extra += SEPARATOR + phaseText(phase);
  if (state.status === 'done' && state.commit !== null) {
    const where = state.how === 'as_it_is' ? ' stays on its branch' : '';
    extra += SEPARATOR + state.commit.slice(0, 10) + where;
  }
  if (state.status === 'pending') extra += `${SEPARATOR}waits for ${dependsOn.join(', ')}`;
  const isAboutToRun = state.status === 'ready' || state.status === 'in_progress';
  if (isAboutToRun && retries > 0) extra += `${SEPARATOR}crashed ${times(retries)}`;
  const delay = state.status === 'ready' ? state.delay : null;
  if (delay !== null && delay.until > now)
    extra += `${SEPARATOR}${delay.because === 'rate_limit' ? 'rate limited' : 'waits'} ${age(now, roundedUp(delay.until))}`;
  return extra.slice(SEPARATOR.length);
}

/** The end of a delay that has less than a second left is not now. */
function roundedUp(until: Timestamp): Timestamp {
  return (until + 999) as Timestamp;
}

const SEPARATOR = ' · ';

/** `planning complete`. */
export function phaseText(phase: string): string {
  return phase.replaceAll('_', ' ');
}

export function indented(text: string, by: number): string {
  return text.replaceAll(/^/gm, ' '.repeat(by));
}

/** `name   value`, aligned; rows without a value are left out. */
export function fields(rows: readonly (readonly [name: string, value: string | null])[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(width)}  ${value}`]));
}
