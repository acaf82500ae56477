/** Why the queue cannot land a task now, and what a person does about it: a pause, a stall, or a reason of its own. */

import { type QueueSettings, type ViewContext, loadPlace } from '../queue/act/view.ts';
import { loadPaused } from '../queue/act/paused.ts';
import type { Landing } from '../queue/rules/landing.ts';
import { waitText } from './rules/queue.ts';
import { firstLine } from './rules/status.ts';
import { waitSteps } from './rules/wait-steps.ts';

export interface Wait {
  /** A clause. */
  readonly text: string;
  readonly steps: readonly string[];
}

/** Undefined when the queue moves, or only lacks a leader. */
export async function loadWait(
  context: ViewContext,
  settings: QueueSettings,
  landing: Landing,
): Promise<Wait | undefined> {
  const paused = await loadPaused(context.board, landing);
  if (paused !== undefined) return { text: waitText(paused.reason), steps: [paused.resume] };
  const place = await loadPlace(context, settings, landing);
  if (place === undefined) return undefined;
  const { entry, queue } = place;
  const reason = entry.standing.kind === 'held' ? entry.standing.reason : queue.stalled?.reason;
  if (reason === undefined) return undefined;
  const { task } = landing;
  const { target, isLed } = queue;
  return { text: firstLine(waitText(reason, target)), steps: waitSteps(reason, { task, target, isLed }) };
}
