/** How a queue looks on a terminal: what holds it up first, then what is being checked, then who waits for what. */

import type { Timestamp } from '../../kernel/ids.ts';
import type { RecentLanding } from '../../queue/rules/view/history.ts';
import type { EntryState, EntryView, QueueView } from '../../queue/rules/view/view.ts';
import { alarmsOf } from '../../explain/queue-alarms.ts';
import { rangeText, runText, standingText } from '../../explain/rules/queue.ts';
import { spanText } from '../../kernel/time.ts';
import { shown } from '../../kernel/text.ts';
import type { Output } from '../output.ts';
import { age } from '../../explain/rules/amounts.ts';
import { stepLines } from '../../kernel/shell.ts';

type Style = Parameters<Output['style']>[0];

const looks: Readonly<Record<EntryState, readonly [word: string, style: Style]>> = {
  landing: ['landing', 'green'],
  green: ['green', 'green'],
  checking: ['checking', 'cyan'],
  again: ['again', 'yellow'],
  half: ['half', 'yellow'],
  waiting: ['queued', 'reset'],
  held: ['held', 'yellow'],
  handed_back: ['red', 'red'],
};

interface QueueLook {
  readonly now: Timestamp;
  /** Without an agent that can run here, an orchestrator does not start. */
  readonly hasAgents: boolean;
}

export function queueLines(
  queue: QueueView,
  output: Output,
  { now, hasAgents }: QueueLook,
): readonly string[] {
  return [
    output.style('bold', headline(queue)),
    ...figureLines(queue).map((line) => output.style('dim', `  ${line}`)),
    ...alarms(queue, { now, hasAgents }).map((line) => `  ${output.style('red', shown(line))}`),
    ...stallSteps(queue)
      .flatMap(stepLines)
      .map((line) => output.style('dim', line)),
    ...checkLines(queue, output, now),
    ...entryLines(queue, output, now),
    ...(queue.entries.length === 0 ? landedLines(queue.landed, output, now) : []),
  ];
}

/** What ends a pause or a stall. */
function stallSteps(queue: QueueView): readonly string[] {
  return [...new Set(alarmsOf(queue).flatMap(({ kind, next }) => (kind === 'no_leader' ? [] : next)))];
}

function headline({ target, entries, slots, hasChecks, train }: QueueView): string {
  const name = shown(target);
  if (entries.length === 0) return `${name}: the queue is empty`;
  const parts = [
    `${entries.length} in the queue`,
    ...(hasChecks ? [`${slots.busy} of ${slots.of} slots busy`] : ['no checks are set']),
    ...(train > 0 ? [`${train} passed`] : []),
  ];
  return `${name}: ${parts.join(' · ')}`;
}

function figureLines({ figures, entries, hasChecks }: QueueView): readonly string[] {
  const { oldestMs, landedLastHour, p50Ms, p95Ms, checksPerLanded } = figures;
  const parts = [
    ...(oldestMs === null || entries.length === 0 ? [] : [`oldest waits ${spanText(oldestMs)}`]),
    `${landedLastHour} landed in 1 h`,
    ...(p50Ms === null || p95Ms === null
      ? []
      : [`time to land: p50 ${spanText(p50Ms)}, p95 ${spanText(p95Ms)}`]),
    ...(checksPerLanded === null || !hasChecks ? [] : [`${checksPerLanded.toFixed(1)} checks per landing`]),
  ];
  return [parts.join(' · ')];
}

/** Whatever keeps all of it from moving. */
function alarms(queue: QueueView, { now, hasAgents }: QueueLook): readonly string[] {
  return alarmsOf(queue).map(({ kind, since, text, next }) => {
    if (kind === 'no_leader') {
      const [orchestrate = '', merge = ''] = next;
      return `${text}${queue.lost.length > 0 ? '; to start again' : ''}: ${hasAgents ? orchestrate : merge}`;
    }
    return since === null ? text : `${ALARM_WORDS[kind]} for ${age(since, now)}: ${text}`;
  });
}

const ALARM_WORDS = {
  paused: 'PAUSED',
  closed: 'PAUSED',
  stalled: 'STALLED',
  no_checks: '',
  red: '',
} as const;

function checkLines(queue: QueueView, output: Output, now: Timestamp): readonly string[] {
  const { runs, lost, usual } = queue;
  if (runs.length === 0)
    return lost.map((run) => `  ${output.style('red', `slot ${run.slot} lost`)}  ${shown(runText(run))}`);
  const usually = usual === null ? '' : ` (usually ${spanText(usual.medianMs)})`;
  const times = runs.map(({ since }) => `for ${age(since, now)}${usually}`);
  const width = Math.max(...times.map((text) => text.length));
  return runs.map((run, at) => {
    const time = output.style('dim', (times[at] ?? '').padStart(width));
    return `  ${output.style('cyan', `slot ${run.slot}:`)} ${time}  ${shown(runText(run))}`;
  });
}

function entryLines({ entries }: QueueView, output: Output, now: Timestamp): readonly string[] {
  const width = String(entries.length).length;
  const idWidth = Math.max(0, ...entries.map(({ task }) => task.length));
  const ranges = entries.map(rangeOf);
  const rangeWidth = Math.max(0, ...ranges.map((text) => text.length));
  return entries.map((entry, at) => {
    const { position, task, state, queuedAt, standing, title } = entry;
    const [word, style] = looks[state];
    const place = `${String(position).padStart(width)} ${task.padEnd(idWidth)}`;
    const marks = `${entry.isHotfix ? 'hotfix, ' : ''}${entry.isUnchecked ? 'unchecked, ' : ''}`;
    const time = rangeWidth === 0 ? '' : ` ${(ranges[at] ?? '').padEnd(rangeWidth)}`;
    const head = `${place} ${output.style(style, word.padEnd(8))} ${age(queuedAt, now).padStart(3)}${time}`;
    return `${head}  ${marks}${shown(standingText(standing))}${output.style('dim', ` · ${shown(title)}`)}`;
  });
}

function rangeOf({ state, range }: EntryView): string {
  if (state === 'landing') return 'now';
  return range === null ? '' : `lands in ${rangeText(range)}`;
}

function landedLines(landed: readonly RecentLanding[], output: Output, now: Timestamp): readonly string[] {
  return landed.map(({ task, commit, at, tookMs, isVerified }) => {
    const checked = isVerified ? 'checked' : 'without checks';
    const what = `as ${commit.slice(0, 10)}, ${checked}, ${spanText(tookMs)} after it was queued`;
    return `  ${output.style('green', 'landed')} ${task} ${age(at, now)} ago ${what}`;
  });
}

/** What `copse why` and `copse list` say about one entry. */
export function entryText({ position, state, standing, range }: EntryView): string {
  const time = range === null || state === 'landing' ? '' : ` (lands in ${rangeText(range)})`;
  return `number ${position}: ${standingText(standing)}${time}`;
}
