/** What this machine can say about work that is on another one: where it is, and what the remote has of it. */

import type { BoardReader } from '../../../board/port.ts';
import type { NodeId, TaskId, Timestamp } from '../../../kernel/ids.ts';
import { spanText } from '../../../kernel/time.ts';
import { type Claim, isFinished, statusPredicate } from '../../../tasks/rules/task.ts';
import type { Workspace } from '../../rules/workspace.ts';
import { newestSharedWork } from './share-work.ts';

export interface Elsewhere {
  readonly workspace: Workspace;
  /** As people call it. */
  readonly machine: string;
}

interface Here {
  readonly board: BoardReader;
  readonly node: NodeId;
}

/** The worktree of a task that is on another machine, unless there is one here. */
export async function findElsewhere({ board, node }: Here, task: TaskId): Promise<Elsewhere | undefined> {
  const all = (await board.list('workspace', { task })).filter(
    ({ disposition, worktree }) => disposition.is !== 'released' && worktree !== null,
  );
  const last = all.at(-1);
  if (last === undefined || all.some((one) => one.node === node)) return undefined;
  return { workspace: last, machine: await machineName(board, last.node) };
}

/** In a sentence; `labelOf` in a table. */
export async function machineName(board: BoardReader, node: NodeId): Promise<string> {
  return `machine ${await labelOf(board, node)}`;
}

export async function labelOf(board: BoardReader, node: NodeId): Promise<string> {
  const name = (await board.get('node', node))?.name;
  return name === undefined ? node : `${name} (${node})`;
}

/** `Agent "mine" (node vm) works on cp-a1b2`, or `ada (node vm) works on cp-a1b2 by hand`. */
export async function holderText(board: BoardReader, task: TaskId, claim: Claim): Promise<string> {
  const node = (await board.get('node', claim.node))?.name ?? claim.node;
  return claim.isByHand
    ? `${claim.agent} (node ${node}) works on ${task} by hand`
    : `Agent "${claim.agent}" (node ${node}) works on ${task}`;
}

/** "The worktree of cp-a1b2 is on machine n-…", or that it has none; then what the remote has. */
export async function whereText(here: Here, task: TaskId, now: Timestamp): Promise<string> {
  const elsewhere = await findElsewhere(here, task);
  if (elsewhere === undefined) return `${task} has no worktree on this machine.`;
  const at = `The worktree of ${task} is on ${elsewhere.machine}.`;
  return `${at} ${await snapshotText(here.board, task, now)}`;
}

/** Why there is no worktree here, and what works instead: `copse work` refuses a task that is over. */
export async function refusedWithoutWorktree(
  context: Here,
  task: TaskId,
  reason: string,
): Promise<{ readonly reason: string; readonly next: readonly string[] }> {
  const state = (await context.board.get('task', task))?.state;
  if (state === undefined || !isFinished(state.status)) return { reason, next: [`copse work ${task}`] };
  const commit = state.status === 'done' && state.how === 'landed' ? state.commit?.slice(0, 10) : undefined;
  const now = commit === undefined ? statusPredicate(state.status) : `landed as ${commit}`;
  return {
    reason: `${task} has no worktree any longer: it ${now}.`,
    next: [
      ...(commit === undefined ? [] : [`git show ${commit} # to see what landed`]),
      `copse undo ${task} --worktree # to get its worktree back`,
    ],
  };
}

/** What is known of work that this machine cannot see. */
export async function snapshotText(board: BoardReader, task: TaskId, now: Timestamp): Promise<string> {
  const snapshot = (await newestSharedWork(board, task))?.snapshot;
  if (snapshot === undefined) return 'No snapshot of it reached the remote.';
  return `Its last snapshot on the remote is ${spanText(Math.max(0, now - snapshot.at))} old.`;
}
