/** `copse merge`: puts a finished task into the queue, and lands it here unless another process leads the queue. */

import { type Refused, refused } from '../../kernel/decision.ts';
import { type CommitId, type LandingId, type TaskId, brand, drawId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import { refuseOtherHead } from '../rules/named-head.ts';
import { refuseUnlessAllowed } from '../../tasks/rules/task.ts';
import { type HandbackCause, decideMerge } from '../../tasks/rules/outcomes.ts';
import { waitText } from '../../explain/rules/queue.ts';
import { unfinishedSteps, unfinishedText } from '../rules/unfinished.ts';
import { shown } from '../../kernel/text.ts';
import { type Workspace, decideWorkspace } from '../../workspaces/rules/workspace.ts';
import { type Outcome, change } from '../../board/context.ts';
import { handBack } from '../lead/hand-back.ts';
import type { LandedTask } from '../lead/record-landed.ts';
import { type Lead, type LeadSilence, lead } from '../lead/leadership.ts';
import { leadQueue } from '../lead/lead-queue.ts';
import { newQueueMemory } from '../lead/memory.ts';
import { dropShared } from '../../workspaces/discard/drop-shared.ts';
import { removeWorkspace } from '../../workspaces/discard/remove.ts';
import { type RunContext, agentNamed } from '../context.ts';
import { targetOf } from './landing-target.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { whereText } from '../../workspaces/act/shared/elsewhere.ts';
import { bringNewest, shareHead } from '../../workspaces/act/shared/share-work.ts';
import { type TaskHead, headOfTask } from '../../workspaces/act/head-of-task.ts';

interface QueueTaskOptions {
  /** The commit that a person approved. */
  readonly reviewed?: CommitId;
  /** The commit that a person named, or its first characters: no other may land. */
  readonly named?: string | undefined;
}

/** Puts it into the queue unless it is there already. */
export async function queueTask(
  context: RunContext,
  id: TaskId,
  { reviewed, named }: QueueTaskOptions = {},
): Promise<Outcome<Landing>> {
  const { board } = context;
  // Read before git: the transaction below refuses if the task has changed since.
  const known = await board.get('task', id);
  const workspace = await workspaceOf(context, id);
  const worktree = workspace?.worktree ?? null;
  const submitted = known?.state.status === 'in_review' ? known.state.head : undefined;
  if (submitted !== undefined && (await context.git.tip(submitted)) === undefined)
    await bringNewest(context, id);
  const read = await readBranch(context, id, worktree, submitted);
  if (read.kind === 'refused') return read;
  const { tip, unfinished } = read.value;
  // The leader may be on another machine.
  if (tip !== undefined && known !== undefined && !unfinished)
    await shareHead(context, { task: id, token: known.token }, tip);
  const session = known?.session ? await board.get('session', known.session) : undefined;
  // Without a session it was created for this target, as an undo is.
  const target =
    known?.session === null && worktree
      ? worktree.baseBranch
      : await targetOf(context, worktree?.baseBranch, session && agentNamed(context, session.agent));
  const where = await whereText(context, id, context.clock.now());
  return change(context, async (change) => {
    const task = await change.require('task', id);
    if (task.state.status === 'landing') {
      const landing = await change.require('landing', task.state.landing);
      const isOther = refuseOtherHead(id, named, landing.head);
      return isOther === undefined ? landing : change.refuse(isOther);
    }
    const refusedNow = refuseUnlessAllowed(task, 'merge') ?? unfinished;
    if (refusedNow) return change.refuse(refusedNow);
    if (task.token !== known?.token || task.state.status !== known.state.status)
      return change.refuse(movedOn(id));
    if (target === undefined) return change.refuse(noTarget(id));
    const head = tip ?? (task.state.status === 'in_review' ? task.state.head : undefined);
    if (!head) return change.refuse(refused('wrong_status', where, `copse work ${id}`, `copse show ${id}`));
    const isOther = refuseOtherHead(id, named, head);
    if (isOther !== undefined) return change.refuse(isOther);
    if (reviewed !== undefined && head !== reviewed) return change.refuse(movedSince(id, reviewed));
    const landing = brand<LandingId>(drawId('la-', context.random));
    const isReviewed = reviewed === undefined ? {} : { isReviewed: true as const };
    const of = { landing, target, attempt: null, head, token: task.token, ...isReviewed };
    await change.apply(decideMerge(task, of, change.at));
    // A person has seen it, so the worktree is no longer kept for one.
    if (workspace?.disposition.is === 'kept')
      await change.apply(decideWorkspace(workspace, { action: 'use' }, change.at));
    return change.require('landing', landing);
  });
}

interface ReadBranch {
  readonly tip: CommitId | undefined;
  readonly unfinished: Refused | null | undefined;
}

/** People remove worktrees and branches meanwhile: then there is an answer, and no error. */
async function readBranch(
  context: RunContext,
  id: TaskId,
  worktree: Workspace['worktree'],
  submitted: CommitId | undefined,
): Promise<Outcome<ReadBranch>> {
  const { git } = context;
  try {
    const facts = worktree && (await git.look(worktree.path));
    const at = worktree && facts ? await headOfTask(git, worktree, facts) : null;
    const found = await newerOf(context, at?.head, submitted);
    const unfinished =
      (worktree && at && (await refuseUnfinished(context, id, worktree, facts, at))) ??
      (found === 'apart' && submitted ? lacksSubmitted(id, submitted) : null);
    return { kind: 'done', value: { tip: found === 'apart' ? at?.head : found, unfinished } };
  } catch (error) {
    const now = worktree && (await git.look(worktree.path));
    if (now === null || now.state === 'healthy') throw error;
    const why = now.state === 'absent' ? 'was removed' : `became unusable: ${now.why}`;
    const reason = `The worktree of ${id} ${why}, while it was read.`;
    return refused('wrong_status', reason, `copse merge ${id}`, `copse show ${id}`);
  }
}

/** The branch here, or what another machine submitted since. `apart`: the branch lacks it, or it is not to be had. */
async function newerOf(
  { git }: RunContext,
  tip: CommitId | undefined,
  submitted: CommitId | undefined,
): Promise<CommitId | undefined | 'apart'> {
  if (tip === undefined || submitted === undefined || tip === submitted) return tip;
  if ((await git.tip(submitted)) === undefined) return 'apart';
  if (await git.isAncestor(submitted, tip)) return tip;
  return (await git.isAncestor(tip, submitted)) ? submitted : 'apart';
}

/** Only commits land, and the worktree is removed afterwards: uncommitted work must not go unnoticed. */
async function refuseUnfinished(
  { git }: RunContext,
  id: TaskId,
  { path, baseCommit }: NonNullable<Workspace['worktree']>,
  facts: Awaited<ReturnType<RunContext['git']['look']>> | null,
  { head, finding }: TaskHead,
): Promise<Refused | undefined> {
  if (facts?.state !== 'healthy') return undefined;
  const next = [
    `copse resume ${id} # to let its agent continue`,
    `copse work ${id} --resume # to continue yourself`,
  ] as const;
  if (facts.operation !== null)
    return refused(
      'wrong_status',
      `Cannot land ${id}: ${unfinishedText(facts.operation)}.`,
      ...unfinishedSteps(id, path, facts.operation),
    );
  const { changed, untracked } = await git.uncommitted(path);
  const [file, ...others] = [...changed, ...untracked];
  if (file !== undefined) {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const what = `Cannot land ${id}: it has uncommitted changes in ${shown(file)}${more}.`;
    return refused('wrong_status', what, ...next);
  }
  if (head !== baseCommit) return undefined;
  const elsewhere = finding === null ? '' : ` ${finding}`;
  return refused('wrong_status', `${id} has nothing to land: it has no commits.${elsewhere}`, ...next);
}

/** The branch is from before another node worked on it, or was moved back. */
function lacksSubmitted(id: TaskId, submitted: CommitId): Refused {
  return refused(
    'wrong_status',
    `The branch of ${id} on this machine lacks ${submitted.slice(0, 10)}, which was sent to review.`,
    `copse merge ${id} on the machine where it was worked on`,
    `copse resume ${id}`,
  );
}

function movedOn(id: TaskId): Refused {
  return refused('wrong_status', `${id} changed while its branch was read.`, `copse merge ${id}`);
}

function movedSince(id: TaskId, reviewed: CommitId): Refused {
  const what = `The branch of ${id} moved since the review of ${reviewed.slice(0, 10)}.`;
  return refused('wrong_status', what, `copse review ${id}`);
}

function noTarget(id: TaskId): Refused {
  return refused('invalid', `There is no branch to land ${id} on.`, 'copse config show');
}

export type LandingResult =
  | LandedTask
  | { readonly kind: 'waiting'; readonly task: TaskId; readonly reason: string }
  /** It needs attention now. */
  | { readonly kind: 'refused'; readonly task: TaskId; readonly cause: HandbackCause }
  | { readonly kind: 'gone'; readonly task: TaskId; readonly reason: string };

/**
 * Lands them now, with their checks, and together where they merge. Tasks on a target that another process leads are left
 * out of the result. A rejected task needs attention, because a person waits here; `resume` gives it back to its agent.
 */
export async function landNow(
  context: RunContext,
  ids: readonly TaskId[],
  { signal = new AbortController().signal, onNote = () => {}, silence }: LandNowOptions = {},
): Promise<ReadonlyMap<TaskId, LandingResult>> {
  const results = new Map<TaskId, LandingResult>();
  const open = (await context.board.openLandings()).filter(({ task }) => ids.includes(task));
  for (const id of ids) if (!open.some(({ task }) => task === id)) results.set(id, gone(id));
  for (const target of new Set(open.map((one) => one.target))) {
    const only = new Set(open.filter((one) => one.target === target).map(({ task }) => task));
    const memory = newQueueMemory(context, { isPatient: true });
    signal.addEventListener('abort', () => void memory.heads.stop(), { once: true });
    const work = async (lead: Lead) => {
      await leadQueue(context, lead, {
        memory,
        signal,
        only,
        onLanded: (one) => void results.set(one.task, one),
        onRejected: async (landing, cause, tip) => {
          results.set(landing.task, { kind: 'refused', task: landing.task, cause });
          await handBack(context, lead, { landing, cause, tip }, null);
        },
        onNote,
      });
      return true;
    };
    const done = await lead(context, target, work, { ...(silence && { silence }) });
    if (done !== undefined) await settle(context, only, results);
  }
  return results;
}

/** Removes the worktrees of landed tasks, and finds out why the others did not land. */
async function settle(
  context: RunContext,
  led: ReadonlySet<TaskId>,
  results: Map<TaskId, LandingResult>,
): Promise<void> {
  const open = await context.board.openLandings();
  for (const id of led) {
    const landed = results.get(id);
    if (landed?.kind === 'landed') results.set(id, await withoutWorktree(context, landed));
    if (results.has(id)) continue;
    const now = open.find(({ task }) => task === id);
    const reason = now?.waiting ? waitText(now.waiting) : 'landing it was interrupted';
    results.set(id, now === undefined ? gone(id) : { kind: 'waiting', task: id, reason });
  }
}

/** It has landed, whatever happens to its worktree. */
async function withoutWorktree(context: RunContext, landed: LandedTask): Promise<LandedTask> {
  const { task } = landed;
  const note = (text: string): LandedTask => ({ ...landed, notes: [...landed.notes, text] });
  try {
    await dropShared(context, [task]);
    const removed = await removeWorkspace(context, task, { by: 'landing' });
    if (removed.kind === 'removed') {
      const { path: worktree, branch, becameOfBranch, notes } = removed;
      const gone = { worktree, branch, branchDeleted: becameOfBranch === 'deleted' };
      return { ...landed, notes: [...landed.notes, ...notes], removed: gone };
    }
    return removed.kind === 'refused' && (await workspaceOf(context, task)) ? note(removed.reason) : landed;
  } catch (error) {
    return note(
      `Its worktree was not removed: ${error instanceof Error ? error.message : String(error)} Try: copse cleanup ${task}`,
    );
  }
}

function gone(id: TaskId): LandingResult {
  return { kind: 'gone', task: id, reason: `${id} is no longer in the queue` };
}

interface LandNowOptions {
  /** Of a process that asks again and again. */
  readonly silence?: LeadSilence;
  readonly signal?: AbortSignal;
  readonly onNote?: (note: string) => void;
}
