/** The tasks on the screen in their order, as far as the filter lets them through. */

import type { NeedsYou, Overview } from '../../explain/rules/overview.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { ActionTarget } from './actions.ts';
import type { TaskStatus } from '../../tasks/rules/task.ts';

export interface PausedTask {
  readonly task: TaskId;
  readonly title: string;
  readonly status: TaskStatus;
  readonly since: Timestamp;
}

type Panel = 'needsYou' | 'working' | 'landing' | 'ready' | 'paused';

export interface WatchRow {
  readonly panel: Panel;
  readonly task: TaskId;
  readonly title: string;
  readonly status: TaskStatus;
  readonly need: NeedsYou | null;
  readonly hasTerminal?: true;
}

/** A task that needs a person and works is one row, the first. */
export function rowsOf(
  overview: Overview,
  paused: readonly PausedTask[],
  filter: string,
): readonly WatchRow[] {
  const { needsYou, working, landing, ready } = filtered(overview, filter);
  const rows: readonly WatchRow[] = [
    ...needsYou.map((need) => rowOf('needsYou', need, need)),
    ...working.map((task) => rowOf('working', task)),
    ...landing.map((task) => rowOf('landing', task)),
    ...ready.map((task) => rowOf('ready', task)),
    ...paused.filter((task) => matches(task, filter)).map((task) => rowOf('paused', task)),
  ];
  const seen = new Set<TaskId>();
  return rows.filter(({ task }) => !seen.has(task) && seen.add(task));
}

function rowOf(
  panel: Panel,
  shown: PausedTask & Pick<ActionTarget, 'hasTerminal'>,
  need: NeedsYou | null = null,
): WatchRow {
  const { task, title, status, hasTerminal } = shown;
  return { panel, task, title, status, need, ...(hasTerminal && { hasTerminal }) };
}

export function filtered(overview: Overview, filter: string): Overview {
  if (filter.trim() === '') return overview;
  const keep = <T extends object>(tasks: readonly T[]) => tasks.filter((task) => matches(task, filter));
  const needsYou = keep(overview.needsYou);
  const counts = { ...overview.counts };
  // A task that needs you is counted nowhere else, also while it is hidden.
  for (const need of overview.needsYou) if (!needsYou.includes(need)) counts[need.status] -= 1;
  return {
    ...overview,
    counts,
    needsYou,
    hiddenNeeds: overview.needsYou.length - needsYou.length,
    working: keep(overview.working),
    landing: keep(overview.landing),
    ready: keep(overview.ready),
  };
}

/** Each word must be somewhere in what is shown of the task. */
export function matches(task: object, filter: string): boolean {
  const text = Object.values(task)
    .filter((value) => typeof value === 'string')
    .join('\n')
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The row as the keys see it. */
export function targetOf({ task, title, status, need, hasTerminal }: WatchRow): ActionTarget {
  const { kind = null, hasNothingToLand } = need ?? {};
  return {
    task,
    title,
    status,
    need: kind,
    ...(hasNothingToLand && { hasNothingToLand }),
    ...(hasTerminal && { hasTerminal }),
  };
}
