/**
 * Undoes a landing: creates a task "Undo: …" whose branch is the target plus one commit that reverts the landing. It lands
 * through the queue like any other.
 *
 *   find what landed → revert in the object store → branch → one transaction: the task, its workspace, who undoes what
 *
 * Where later work builds on the landing, nothing is written: that needs an agent or a person who understands both.
 */

import { type Refused, decided, refused } from '../../kernel/decision.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import {
  type BranchName,
  type CommitId,
  type LandingId,
  type LedgerEntryId,
  type TaskId,
  brand,
  drawId,
  parseTaskId,
  taskIdDraws,
} from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { decideFinished, findUndoable, undoDefinition } from '../rules/undo-landing.ts';
import type { BoardReader } from '../../board/port.ts';
import type { Diff } from '../../workspaces/ports/worktrees.ts';
import type { CommitSummary, Reverted, Reverting } from '../ports/merging.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { freeBranch, recordBranch, submission } from './finished-task.ts';
import { tipOfTarget } from './landing-target.ts';
import { branchRef } from '../../workspaces/discard/rescue-first.ts';
import type { RunContext } from '../context.ts';
import { landingsOf, loadUndoing } from './undoing.ts';
import { unusedId } from '../../tasks/act/unused-id.ts';

export interface UndoContext extends RunContext {
  readonly reverting: Reverting;
}

export interface LandingUndone {
  readonly task: Task;
  readonly target: BranchName;
  /** The commit that it landed as. */
  readonly landed: CommitId;
  /** The commits that it landed, newest first. */
  readonly commits: readonly CommitSummary[];
  /** Changed files of the undo, without the patch. */
  readonly diff: Diff;
  /** The task that undoes it; null for a trial. */
  readonly undo: Task | null;
}

export async function undoLanding(
  context: UndoContext,
  id: TaskId,
  options: { readonly isTrial?: boolean } = {},
): Promise<Outcome<LandingUndone>> {
  if (context.by.kind === 'session') return forPeople(id);
  const drawn = await change(context, async (change) => {
    const found = await requireUndoable(change, id);
    return { ...found, undo: await unusedId(change.board, taskIdDraws(context.random)) };
  });
  if (drawn.kind === 'refused') return drawn;
  const { task, landing, commit: landed } = drawn.value;
  const { target } = landing;
  const onto = await tipOfTarget(context, target);
  const reverted = await context.reverting.revert({
    task: drawn.value.undo,
    reverts: id,
    title: task.title,
    landed,
    others: await otherEnds(context.board, landing),
    onto,
    at: context.clock.now(),
    isTrial: options.isTrial ?? false,
  });
  if (reverted.kind !== 'reverted') return explain(context, task, landing, reverted);
  const { commits } = reverted;
  if (options.isTrial) {
    const diff = await context.diffs.compare({ from: landed, to: reverted.before, withoutPatch: true });
    return { kind: 'done', value: { task, target, landed, commits, diff, undo: null } };
  }
  const diff = await context.diffs.compare({ from: onto, to: reverted.commit, withoutPatch: true });
  const made = await submit(context, { ...drawn.value, onto, head: reverted.commit });
  return made.kind === 'done'
    ? { kind: 'done', value: { task, target, landed, commits, diff, undo: made.value } }
    : made;
}

interface Undoable {
  readonly task: Task;
  readonly landing: Landing;
  readonly commit: CommitId;
}

async function requireUndoable(change: Change, id: TaskId): Promise<Undoable> {
  const task = await change.require('task', id);
  const landings = await landingsOf(change.board, id);
  const undoings = await loadUndoing(change.board, id, landings);
  const found = findUndoable(task, landings, (landing) => undoings.get(landing) ?? { kind: 'none' });
  if (found.kind === 'refused') return change.refuse(found);
  const { landing } = found;
  if (landing.state.status !== 'landed') throw new Error(`${landing.id} did not land`);
  return { task, landing, commit: landing.state.commit };
}

/** The commits of all other landings on the same target. */
async function otherEnds(board: BoardReader, { id, target }: Landing): Promise<ReadonlySet<CommitId>> {
  const ends = new Set<CommitId>();
  for (const landing of await board.list('landing'))
    if (landing.id !== id && landing.target === target && landing.state.status === 'landed')
      ends.add(landing.state.commit);
  return ends;
}

interface Made extends Undoable {
  readonly undo: TaskId;
  readonly onto: CommitId;
  readonly head: CommitId;
}

async function submit(context: UndoContext, made: Made): Promise<Outcome<Task>> {
  const { undo, head, landing, onto, task } = made;
  const branch = await freeBranch(context, undo, `undo ${task.title}`, 'undo');
  if (branch === undefined) {
    const reason = `There is no free branch name for ${undo}.`;
    return refused('wrong_status', reason, `copse undo ${task.id}`);
  }
  // Before the board names the commit: git may prune commits without a ref.
  const moved = await context.git.moveRef(branchRef(branch), null, head, `copse: undoes ${task.id}`);
  if (moved.kind !== 'moved')
    return refused('wrong_status', `The branch ${branch} already exists.`, `copse undo ${task.id}`);
  const outcome = await change(context, async (change) => {
    const now = await requireUndoable(change, task.id);
    if (now.landing.id !== landing.id || (await change.board.wasUsed(undo)))
      change.refuse(refused('wrong_status', `${task.id} changed during the undo.`, `copse undo ${task.id}`));
    const definition = undoDefinition(task, context.policy.text.titleLength);
    const to = submission(context, { branch, head, target: landing.target });
    await change.apply(decideFinished({ id: undo, definition, to }, change.at));
    await recordBranch(context, change, { task: undo, branch, target: landing.target, onto });
    await note(context, change, made);
    return change.require('task', undo);
  });
  if (outcome.kind === 'refused')
    await context.git.moveRef(branchRef(branch), head, null, 'copse: not needed');
  return outcome;
}

async function note(context: UndoContext, change: Change, made: Made): Promise<void> {
  const { by, random } = context;
  const { task, undo, landing, commit } = made;
  const who = by.kind === 'person' && by.name !== null ? ` by ${by.name}` : '';
  const add = (of: TaskId, text: string, undone?: { landing: LandingId; by: TaskId }) => {
    const id = brand<LedgerEntryId>(drawId('le-', random));
    const entry = { id, task: of, session: null, kind: 'decision', text, at: change.at } as const;
    return change.apply(decided({ type: 'ledger.added', ...entry, ...(undone && { undone }) }));
  };
  await add(task.id, `Undo requested${who}; ${undo} does it.`, { landing: landing.id, by: undo });
  await add(undo, `Requested${who}: reverts ${task.id}, which landed as ${commit}.`);
}

function forPeople(id: TaskId): Refused {
  const reason = `Cannot undo ${id} from a session: only a person may undo a landing.`;
  return refused('not_this_session', reason, 'copse stuck --reason "what a person should do"');
}

const LISTED = 5;

async function explain(
  context: UndoContext,
  { id, title }: Task,
  { target }: Landing,
  reverted: Exclude<Reverted, { kind: 'reverted' }>,
): Promise<Refused> {
  const again = `copse add "Undo: ${title.replaceAll('"', "'")}" --body "Revert what ${id} landed."`;
  switch (reverted.kind) {
    case 'conflict': {
      const files = some(reverted.files);
      const others = await tasksOf(context.board, id, reverted.later);
      const who = others.length === 0 ? '' : `: ${some(others)}`;
      const reason = `Cannot undo ${id}: later work changed the same lines in ${files}${who}.`;
      return refused('wrong_status', reason, again);
    }
    case 'not_there':
      return refused('wrong_status', `${target} no longer contains what ${id} landed.`, `git log ${target}`);
    case 'brought_nothing':
      return refused(
        'wrong_status',
        `${id} changed nothing on ${target}: it was all there before.`,
        `copse show ${id}`,
      );
    case 'nothing_left':
      return refused('wrong_status', `${target} no longer has any change of ${id}.`, `copse show ${id}`);
    default:
      return unreachable(reverted);
  }
}

function some(names: readonly string[]): string {
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : '';
  return `${names.slice(0, LISTED).join(', ')}${more}`;
}

/** The tasks of these commits, by their trailers; the latest first. */
async function tasksOf(
  board: BoardReader,
  not: TaskId,
  commits: readonly CommitSummary[],
): Promise<readonly string[]> {
  const ids = new Set<TaskId>();
  for (const { body } of commits)
    for (const [, text = ''] of body.matchAll(/^Task: *(\S+) *$/gm)) {
      const known = parseTaskId(text);
      if (known !== undefined && known !== not) ids.add(known);
    }
  const named: string[] = [];
  for (const id of ids) {
    const task = await board.get('task', id);
    named.push(task === undefined ? id : `${id} (${task.title})`);
  }
  return named;
}
