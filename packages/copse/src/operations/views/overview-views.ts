/** What `copse status --json` prints. Times are ISO 8601. */

import type { Why } from '../../explain/why.ts';
import type { LandingTask, Overview } from '../../explain/rules/overview.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { splitRemark } from '../../kernel/shell.ts';
import { time } from '../../kernel/time.ts';

/** `here`: the task of the worktree in which the command runs. */
export function overviewView(overview: Overview, here?: Why) {
  const { at, needsYou, working, landing, ready, pauses: _, ...rest } = overview;
  return {
    at: time(at),
    here: here === undefined ? null : hereView(here),
    ...rest,
    otherNodes: rest.otherNodes ?? [],
    needsYou: needsYou.map(withTime),
    working: working.map(withTime),
    landing: landing.map(landingView),
    ready: ready.map(withTime),
  };
}

function landingView({ task, title, status, since, target, position, of, why, isUnled }: LandingTask) {
  const one = { task, title, status, since, target, position, of, why, ...(isUnled && { isUnled }) };
  return withTime(one);
}

function hereView({ task: { id, title, state }, because, next }: Why) {
  const commands = next.map((step) => splitRemark(step).command);
  return { task: id, title, status: state.status, since: time(state.since), because, next: commands };
}

function withTime<T extends { readonly since: Timestamp }>(one: T) {
  return { ...one, since: time(one.since) };
}
