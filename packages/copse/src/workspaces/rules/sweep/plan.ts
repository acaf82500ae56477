/**
 * The plan of a sweep: for each thing whether it goes, why, and where its content stays. A pure function of facts; the dry run
 * prints it, and the real run asks it again about each thing right before it acts.
 *
 *   too young → stays        not proven, not known → stays        the gate (removal.ts) refuses → stays        else → goes
 *
 * - A worktree goes only if the gate lets it go; the plan adds ages and reasons, never permission.
 * - Only a task that the board has as done or cancelled, or that a person deleted from it, is over. A task that the board never
 *   had may be that of another board.
 * - Work that did not land stays on its branch, or under a ref of Copse's own.
 * - The disk budget (budget.ts) takes from what only its age keeps, and nothing else.
 */

import type { TaskId, Timestamp } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { unreachable } from '../../../kernel/unreachable.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { isFinished, statusPredicate } from '../../../tasks/rules/task.ts';
import { type RemovalFacts, type RemovalRequest, decideRemoval } from '../removal.ts';
import { type Budget, applyBudget } from './budget.ts';
import type {
  SweptThing,
  FoundBranch,
  FoundLogs,
  FoundSession,
  FoundSnapshot,
  FoundTrash,
  FoundWorktree,
  GoingItem,
  OwnerStatus,
  SweepFacts,
  SweepItem,
  SweptKind,
  SweepVerdict,
} from './things.ts';

type Rules = Pick<Policy, 'maintenance' | 'removal'>;
type Goes = GoingItem['verdict'];

export interface SweepPlan {
  readonly items: readonly SweepItem[];
  /** Null without `maintenance.max_disk`. */
  readonly budget: Budget | null;
}

/** Things of the kinds that are `off` stay. */
export function planSweep(
  facts: SweepFacts,
  policy: Rules,
  off: ReadonlySet<SweptKind> = new Set(),
): SweepPlan {
  const { now } = facts;
  const all: readonly SweepItem[] = [
    ...facts.worktrees.map((is) =>
      item({ kind: 'worktree', is }, is.path, is, decideWorktree(is, now, policy)),
    ),
    ...facts.branches.map((is) => item({ kind: 'branch', is }, is.branch, is, decideBranch(is, now, policy))),
    ...facts.trash.map((is) =>
      item({ kind: 'trash', is }, is.folder, is, decideTrash(is, facts.trashNow ?? now, policy)),
    ),
    ...facts.sessions.map((is) =>
      item({ kind: 'session', is }, is.session, is, decideTranscripts(is, now, policy)),
    ),
    ...facts.logs.map((is) => item({ kind: is.kind, is }, is.folder, is, decideLogs(is, now, policy))),
    ...facts.snapshots.map((is) => item({ kind: 'snapshot', is }, is.ref, is, decideSnapshot(is))),
    ...facts.records.map((is) => item({ kind: 'record', is }, is.path, {}, stays(NOT_OURS))),
  ];
  const items = all.map((one) => (off.has(one.found.kind) ? switchedOff(one) : one));
  return applyBudget(items, now, policy.maintenance);
}

const NOT_OURS = 'Copse did not make this worktree, whose folder is gone. To drop it: git worktree prune';
const IS_OFF = 'Its cleanup is switched off in copse.yml. To do it now: copse sweep';

function switchedOff(one: SweepItem): SweepItem {
  return { ...one, verdict: stays(IS_OFF) };
}

function item(
  found: SweptThing,
  name: string,
  { task = null, bytes = null }: { readonly task?: TaskId | null; readonly bytes?: number | null },
  verdict: SweepVerdict,
): SweepItem {
  return { found, name, task, bytes, verdict };
}

/** The request that the gate gets, in the plan and when it is carried out. */
export function sweepRequest(
  { cleanupOnFailure, isResult }: Pick<FoundWorktree, 'cleanupOnFailure' | 'isResult'>,
  { maintenance }: Rules,
): RemovalRequest {
  const pruneUnmergedBranches = maintenance.pruneUnmergedBranches && !isResult;
  return { by: 'sweep', pruneUnmergedBranches, cleanupOnFailure };
}

function decideWorktree(one: FoundWorktree, now: Timestamp, policy: Rules): SweepVerdict {
  const { task, owner, since, isThere, changedAt, removal } = one;
  const { finishedWorktreeAgeMs, abandonedWorktreeAgeMs } = policy.maintenance;
  if (owner === 'in_progress' && one.isRecovered) return stays(`${task} is in progress here.`);
  if (owner === 'failed' && !one.cleanupOnFailure)
    return stays(`${task} has failed, and workspace.cleanup_on_failure is false.`);
  const isUnknown = owner === 'unknown' || owner === 'deleted';
  const isOver = !isUnknown && isFinished(owner);
  if (!isUnknown && !isOver && owner !== 'in_progress' && owner !== 'failed')
    return stays(`${statusText(task, owner)}.`);
  if (isUnknown && (changedAt === null || now - changedAt < abandonedWorktreeAgeMs))
    return stays(`The board has no task ${task}, and the folder was changed lately.`);
  const gate = removal === null ? null : throughGate(one, removal, now, policy);
  if (isOver && isThere && since !== null && now - since < finishedWorktreeAgeMs) {
    const why = `${sinceText(task, owner, since, now)}; goes after ${lengthOf(finishedWorktreeAgeMs)}.`;
    return gate?.kind === 'goes' ? young(why, since, gate) : stays(gate?.why ?? why);
  }
  return gate ?? stays(`${statusText(task, owner)}.`);
}

function throughGate(one: FoundWorktree, facts: RemovalFacts, now: Timestamp, policy: Rules): SweepVerdict {
  const decision = decideRemoval(facts, sweepRequest(one, policy), policy);
  if (decision.kind === 'refused') return stays(decision.reason);
  if (decision.kind === 'question') return stays(decision.question);
  const { task, strays } = one;
  const isDeleted = decision.kind === 'allowed' && decision.branch === 'delete';
  const hasFiles = facts.uncommitted !== 0 || facts.operation !== null;
  const isPruned = isDeleted && facts.branch === 'unmerged';
  const fate = facts.branch === 'gone' ? 'is gone already' : isDeleted ? 'is deleted' : 'stays';
  return {
    kind: 'goes',
    why: whyWorktree(one, facts, now),
    keptUnder: [...(hasFiles ? [rescuesOf(task)] : []), ...(isPruned ? [tipsOf(task)] : [])],
    notes: [
      ...(decision.kind === 'end_first'
        ? [
            `Ends ${counted(decision.ends.processes.length + decision.ends.tmux.length, 'process', 'es')} of its agent first.`,
          ]
        : [`Its branch ${fate}${isPruned ? ' although it is not merged' : ''}.`]),
      ...(one.owner === 'in_progress' ? [`To go on with ${task}: copse orchestrate`] : []),
      ...(strays.length > 0 && (isDeleted || facts.branch === 'gone')
        ? [`Branches made in it go if they landed: ${strays.map(shown).join(', ')}.`]
        : []),
    ],
  };
}

function whyWorktree({ task, owner, since, isThere }: FoundWorktree, facts: RemovalFacts, now: Timestamp) {
  if (!isThere) return `its folder is gone, and ${statusText(task, owner)}`;
  if (owner === 'unknown' || owner === 'deleted')
    return 'the board has no record of it, no process is in it, and everything in it is merged';
  if (owner === 'failed') return `${task} has failed, and workspace.cleanup_on_failure is true`;
  if (owner === 'in_progress') {
    const forMs = facts.lease.kind === 'expired' ? facts.lease.forMs : 0;
    return `abandoned: ${task} has no lease for ${lengthOf(forMs)}`;
  }
  return sinceText(task, owner, since, now);
}

export function decideBranch(one: FoundBranch, now: Timestamp, { maintenance }: Rules): SweepVerdict {
  const { task, owner, since, state, holder } = one;
  if (owner === 'unknown') return stays(`The board has no task ${task}.`);
  if (owner === 'deleted')
    return stays(`${task} was deleted from the board, so nothing proves that it landed.`);
  if (!isFinished(owner)) return stays(`${statusText(task, owner)}.`);
  if (one.isWanted) return stays('It is a target, a base, or in use by another task.');
  if (one.hasWorktree) return stays(`${task} has a worktree; its removal decides about the branch.`);
  if (holder !== null) return stays(`It is checked out at ${shown(holder)}.`);
  if (one.isResult) return stays(`It is the result of ${task}.`);
  if (since === null || now - since < maintenance.finishedWorktreeAgeMs)
    return stays(
      `${sinceText(task, owner, since, now)}; goes after ${lengthOf(maintenance.finishedWorktreeAgeMs)}.`,
    );
  // The reflog of a branch goes with it when a person renames or copies the branch.
  if (!one.isOwn) return stays('Its name is not the one that Copse gave it; a person may have renamed it.');
  const forLong = sinceText(task, owner, since, now);
  switch (state) {
    case 'in_target':
      return goes(`merged; ${forLong}`);
    case 'landed':
      return goes(`landed as other commits; ${forLong}`, [tipsOf(task)]);
    case 'unmerged':
      return maintenance.pruneUnmergedBranches
        ? goes(`not merged, and prune_unmerged_branches is true; ${forLong}`, [tipsOf(task)])
        : stays('It has commits that did not land.');
    case 'unknown':
    case null:
      return stays('There is no base to compare it with.');
    default:
      return unreachable(state);
  }
}

/** For good, or for this round: also asked by `tend`. */
export function isTrashOver(
  { at, isLeftover }: Pick<FoundTrash, 'at' | 'isLeftover'>,
  now: Timestamp,
  { trashAgeMs }: Policy['maintenance'],
): boolean {
  return isLeftover || now - at > trashAgeMs;
}

export function decideTrash(one: FoundTrash, now: Timestamp, { maintenance }: Rules): SweepVerdict {
  const { task, at, repositories, isOccupied, problem } = one;
  if (problem !== undefined)
    return stays(
      `Copse cannot read it (${problem}), so it may hold work. Look at it, then delete the folder.`,
    );
  if (repositories.length > 0)
    return stays(
      `The work in ${repositories.map(shown).join(', ')} is nowhere else. Look at it, then delete the folder.`,
    );
  if (isOccupied === true) return stays('A process is in it, or Copse cannot tell.');
  const isOver = isTrashOver(one, now, maintenance);
  const why = one.isLeftover ? 'a checkout that was never finished' : `removed ${age(at, now)} ago`;
  const gone = goes(why, one.isLeftover ? [] : [rescuesOf(task)]);
  if (isOver) return isOccupied === null ? stays('Not looked at.') : gone;
  const text = `Removed ${age(at, now)} ago; kept for ${lengthOf(maintenance.trashAgeMs)}: copse undo ${task} --worktree`;
  return one.isEmpty && !one.isBegun && isOccupied === false ? young(text, at, gone) : stays(text);
}

export function decideLogs(one: FoundLogs, now: Timestamp, { maintenance }: Rules): SweepVerdict {
  const { kind, task, owner, at, newer } = one;
  const { logAgeMs, logsKept, trashAgeMs } = maintenance;
  if (owner === 'unknown') return stays(`The board has no task ${task}.`);
  if (one.neededBy !== null) return stays(`${one.neededBy} imports it.`);
  if (owner === 'deleted') {
    const why = `${task} was deleted from the board`;
    return now - at > trashAgeMs
      ? goes(why)
      : young(`${why}; goes after ${lengthOf(trashAgeMs)}.`, at, goes(why));
  }
  if (!isFinished(owner)) return stays(`${statusText(task, owner)}.`);
  if (!one.isDerived) return stays(`Results of ${task}.`);
  if (now - at > logAgeMs) return goes(`unchanged for ${age(at, now)}; ${statusText(task, owner)}`);
  if (newer >= logsKept) return goes(`${logsKept} newer ones are kept`);
  const text = `${statusText(task, owner)}; goes after ${lengthOf(logAgeMs)}.`;
  return young(text, at, goes(`${kind} of ${age(at, now)} ago`));
}

export function decideTranscripts(one: FoundSession, now: Timestamp, { maintenance }: Rules): SweepVerdict {
  const { task, owner, endedAt, files } = one;
  if (owner === 'unknown') return stays(`The board has no task ${task}.`);
  if (endedAt === null) return stays('It runs, or the board does not know when it ended.');
  if (owner !== 'deleted' && !isFinished(owner)) return stays(`${statusText(task, owner)}.`);
  const gone = goes(`ended ${age(endedAt, now)} ago: ${counted(files.length, 'transcript')}`);
  if (now - endedAt > maintenance.sessionAgeMs) return gone;
  return young(
    `Ended ${age(endedAt, now)} ago; goes after ${lengthOf(maintenance.sessionAgeMs)}.`,
    endedAt,
    gone,
  );
}

function decideSnapshot({ task, end }: FoundSnapshot): SweepVerdict {
  if (end === 'landed') return goes(`${task} landed`);
  if (end === 'ended') return goes(`${task} is over`, [rescuesOf(task)]);
  return stays(`${task} is not over, or the board has no such task.`);
}

function statusText(task: TaskId, owner: OwnerStatus): string {
  return owner === 'unknown' || owner === 'deleted'
    ? `the board has no task ${task}`
    : `${task} ${statusPredicate(owner)}`;
}

/** `cp-a1b2 is cancelled (8d)`. */
function sinceText(task: TaskId, owner: OwnerStatus, since: Timestamp | null, now: Timestamp): string {
  return `${statusText(task, owner)}${since === null ? '' : ` (${age(since, now)})`}`;
}

function lengthOf(ms: number): string {
  return age(0 as Timestamp, ms as Timestamp);
}

function rescuesOf(task: TaskId): string {
  return `refs/copse/rescue/${task}/`;
}

function tipsOf(task: TaskId): string {
  return `refs/copse/keep/${task}/`;
}

function goes(why: string, keptUnder: readonly string[] = []): Goes {
  return { kind: 'goes', why, keptUnder, notes: [] };
}

function stays(why: string): Extract<SweepVerdict, { readonly kind: 'stays' }> {
  return { kind: 'stays', why, safeSince: null };
}

/** Only its age keeps it. */
function young(why: string, safeSince: Timestamp, asIfOld: Goes): SweepVerdict {
  return { kind: 'stays', why, safeSince, asIfOld };
}
