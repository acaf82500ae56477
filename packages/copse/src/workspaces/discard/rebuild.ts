/**
 * Puts back what git and the worktrees still know of tasks that the board has lost, one transaction for each. A task that is
 * on the board changes only if the target has its work: after an older snapshot was put back, it would be done again.
 *
 * May be repeated. Tasks that a person deleted stay deleted.
 */

import { type WorkspaceId, brand, drawId } from '../../kernel/ids.ts';
import { decided } from '../../kernel/decision.ts';
import { type Change, change } from '../../board/context.ts';
import { endSession } from '../../tasks/act/end-session.ts';
import { blankDefinition } from '../../tasks/act/tasks.ts';
import type { TaskEvent } from '../../tasks/rules/events.ts';
import { type Task, type TaskStatus, isFinished } from '../../tasks/rules/task.ts';
import {
  type RebuiltState,
  type TaskTraces,
  decideRebuilt,
  rebuiltBody,
  rebuiltTitle,
} from '../rules/rebuild.ts';
import { type WorkspaceContext } from '../act/context.ts';
import { type Base, baseBranchOf, findNewestBase } from '../act/newest-base.ts';

export interface RebuiltTask {
  readonly task: Task;
  /** Null: it was not on the board. */
  readonly was: TaskStatus | null;
}

export async function rebuildBoard(
  context: WorkspaceContext,
  traces: readonly TaskTraces[],
): Promise<readonly RebuiltTask[]> {
  const { git, target } = context;
  const branch = await baseBranchOf(git, target, undefined);
  const base = branch && (await findNewestBase(git, branch));
  const rebuilt: RebuiltTask[] = [];
  for (const one of traces) {
    const state = decideRebuilt(one);
    const outcome = await change(context, async (change): Promise<RebuiltTask | undefined> => {
      const known = await change.board.get('task', one.task);
      if (known === undefined) {
        if (await change.board.wasUsed(one.task)) return undefined;
        await addLost(context, change, { one, state, base });
        return { task: await change.require('task', one.task), was: null };
      }
      if (state.kind !== 'done' || !isForgotten(known)) return undefined;
      await endSession(change, known, { action: 'cancel' });
      await change.apply(decided(eventOf(known.id, change.at, state)));
      return { task: await change.require('task', one.task), was: known.state.status };
    });
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
    if (outcome.value !== undefined) rebuilt.push(outcome.value);
  }
  return rebuilt;
}

/** A queue finds out itself what of its landings is on the target; what a person holds is theirs. */
function isForgotten({ state }: Task): boolean {
  if (isFinished(state.status) || state.status === 'landing') return false;
  return state.status !== 'in_progress' || !state.claim.isByHand;
}

async function addLost(
  { policy, random, settings, node, worktreeFolder }: WorkspaceContext,
  change: Change,
  of: { readonly one: TaskTraces; readonly state: RebuiltState; readonly base: Base | undefined },
): Promise<void> {
  const { one, state, base } = of;
  const { task: id, branch } = one;
  const { at } = change;
  const title = rebuiltTitle(one).slice(0, policy.text.titleLength);
  const definition = { ...blankDefinition(policy), title, body: rebuiltBody(one) };
  await change.apply(decided({ type: 'task.created', id, at, definition, status: 'ready' }));
  await change.apply(decided(eventOf(id, at, state)));
  if (branch === null || base === undefined || state.kind === 'done') return;
  const worktree = {
    path: one.worktree ?? `${worktreeFolder}/${id}`,
    branch: branch.name,
    baseBranch: base.branch,
    baseCommit: base.commit,
  };
  const workspace: WorkspaceId = brand(drawId('ws-', random));
  const { strategy } = settings;
  await change.apply(
    decided({ type: 'workspace.prepared', id: workspace, at, task: id, node, strategy, worktree }),
  );
}

function eventOf(id: Task['id'], at: Task['createdAt'], state: RebuiltState): TaskEvent {
  switch (state.kind) {
    case 'in_review':
      return { type: 'task.sent_to_review', id, at, head: state.head, pullRequest: null };
    case 'paused':
      return { type: 'task.paused', id, at };
    case 'done':
      return { type: 'task.done', id, at, how: 'landed', commit: state.commit };
    default:
      return { type: 'task.cancelled', id, at, reason: state.reason };
  }
}
