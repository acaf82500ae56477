/** Why a task did not land, and what to do next. */

import { nextSteps } from '../../explain/next-steps.ts';
import { waitLog, waitSteps } from '../../explain/rules/wait-steps.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { loadOtherNodes } from '../../machines/act/nodes.ts';
import type { LandingResult } from '../../queue/act/merge.ts';
import { loadPaused } from '../../queue/act/paused.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import type { RunContext } from '../../queue/context.ts';
import type { Access } from '../access.ts';
import type { Failure } from '../failure.ts';

export async function explainLanding(
  context: RunContext,
  landed: LandingResult,
  here: Pick<Access['here'], 'isOrchestrated'>,
): Promise<Failure> {
  const { task } = landed;
  switch (landed.kind) {
    case 'refused':
      return {
        code: 'wrong_status',
        reason: aboutTask(task, landed.cause.reason),
        next: await refusedSteps(context, task),
      };
    case 'waiting':
      return {
        code: 'wrong_status',
        reason: [`${task} stays in the queue: ${landed.reason}.`, ...(await logOf(context, task))].join('\n'),
        next: [
          ...(await landingSteps(context, task, here)),
          `copse queue cancel ${task} # to take it out of the queue`,
        ],
      };
    case 'gone':
      return {
        code: 'wrong_status',
        reason: `${landed.reason.replace(/\.$/, '')}.`,
        next: await goneSteps(context, task),
      };
    case 'landed':
      throw new Error(`${task} landed`);
    default:
      return unreachable(landed);
  }
}

/** Of several tasks, the first line says which. */
function aboutTask(task: TaskId, reason: string): string {
  const [first = ''] = reason.split('\n', 1);
  return first.includes(task) ? reason : `${task} did not land. ${reason}`;
}

/** It needs attention now: what `copse why` proposes, without what was just refused. */
async function refusedSteps(context: RunContext, id: TaskId): Promise<readonly string[]> {
  const task = await context.board.get('task', id);
  if (task?.state.status !== 'needs_attention') return [`copse why ${id}`];
  const steps = await nextSteps(context, task);
  return steps.filter((step) => !step.startsWith(`copse merge ${id}`) && !step.startsWith('copse cancel '));
}

async function goneSteps({ board }: RunContext, id: TaskId): Promise<readonly string[]> {
  const isInReview = (await board.get('task', id))?.state.status === 'in_review';
  return isInReview ? [`copse review ${id} # to look at it and decide`] : [`copse why ${id}`];
}

async function logOf({ board }: RunContext, id: TaskId): Promise<readonly string[]> {
  const waiting = (await landingOf(board, id))?.waiting;
  return waiting == null ? [] : waitLog(waiting);
}

async function landingOf(board: RunContext['board'], id: TaskId): Promise<Landing | undefined> {
  const state = (await board.get('task', id))?.state;
  return state?.status === 'landing' ? board.get('landing', state.landing) : undefined;
}

/** A pause stops `copse merge` and orchestrators alike. An orchestrator here or on another machine lands it without a command. */
async function landingSteps(
  { board, node, policy }: RunContext,
  id: TaskId,
  here: Pick<Access['here'], 'isOrchestrated'>,
): Promise<readonly string[]> {
  const landing = await landingOf(board, id);
  const paused = await loadPaused(board, landing);
  if (paused !== undefined) return [paused.resume];
  const isLed = (await here.isOrchestrated()) || (await loadOtherNodes(board, node, policy.nodes)).length > 0;
  const steps =
    landing?.waiting == null ? [] : waitSteps(landing.waiting, { task: id, target: landing.target, isLed });
  if (isLed) return steps.length === 0 ? [`copse why ${id}`] : steps;
  return steps.length > 0 ? steps : [`copse merge ${id}`, 'copse orchestrate'];
}
