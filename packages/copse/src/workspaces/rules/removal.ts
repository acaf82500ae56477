/**
 * The gate in front of every removal of a worktree.
 *
 *   look → decide → (end the agent → look → decide)* → rescue → look → decide → rename to trash
 *
 * - `allowed` means that nothing is alive in the folder: no process, no terminal, no lease. Where an agent may be ended, the
 *   answer is `end_first`, and the caller ends it and asks again with fresh facts.
 * - A process that is not the agent's, a person's shell for example, refuses every removal; so does a lease on another
 *   machine.
 * - Force skips the question and ends the agent. It skips no rescue and no refusal about processes of others.
 * - Unknown means keep. No caller tries something else after a refusal.
 */

import { unreachable } from '../../kernel/unreachable.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { InsideProcess, TmuxSession } from '../../kernel/process.ts';
import { type TaskStatus, isFinished } from '../../tasks/rules/task.ts';
import { counted, shown } from '../../kernel/text.ts';
import type { Disposition } from './workspace.ts';

export interface RemovalFacts {
  readonly task: TaskId;
  readonly path: string;
  /** A linked worktree that Copse made; never a person's checkout. */
  readonly isManaged: boolean;
  /** Null when the processes of this system cannot be listed. */
  readonly inside: readonly InsideProcess[] | null;
  /** Processes that may be inside: the system does not show where they are. */
  readonly unreadable: readonly InsideProcess[];
  /** Null when tmux cannot be asked. */
  readonly tmux: readonly TmuxSession[] | null;
  readonly lease:
    | { readonly kind: 'none' }
    | { readonly kind: 'live'; readonly holder: 'here' | 'elsewhere' }
    | { readonly kind: 'expired'; readonly forMs: number };
  readonly locks: readonly GitLock[];
  /** A person works on the task by hand, so no process renews its lease. */
  readonly isByHand?: boolean;
  /** The process of an attempt that has not ended is alive, wherever it is. */
  readonly hasRunner?: boolean;
  /** A rebase, merge or the like that is not finished. */
  readonly operation: string | null;
  /** Null, like the status, when the board has no such workspace. */
  readonly disposition: Disposition | null;
  readonly status: TaskStatus | null;
  /** Null when git could not tell. */
  readonly uncommitted: number | null;
  readonly unmerged: number | null;
  readonly branch: 'merged' | 'unmerged' | 'gone';
}

interface GitLock {
  readonly file: string;
  readonly ageMs: number;
  /** A git process is alive that may be its owner. */
  readonly isHeld: boolean;
}

export type RemovalRequest =
  | {
      readonly by: 'person';
      /** The person named this task; a clean-up of all worktrees names none. */
      readonly isNamed: boolean;
      readonly isForced: boolean;
      readonly deleteBranch: boolean;
      /** The command to repeat after the process has left, where that is not a removal. */
      readonly again?: string;
    }
  | {
      readonly by: 'sweep';
      readonly pruneUnmergedBranches: boolean;
      /** `workspace.cleanup_on_failure` of its agent. */
      readonly cleanupOnFailure?: boolean;
    }
  | { readonly by: 'landing' };

type RemovalRefusal =
  | 'not_managed'
  | 'already_released'
  | 'processes_unknown'
  | 'foreign_process'
  | 'leased_elsewhere'
  | 'agent_alive'
  | 'git_lock'
  | 'kept'
  | 'task_open'
  | 'work_left';

export type RemovalDecision =
  | { readonly kind: 'allowed'; readonly branch: 'delete' | 'keep' }
  | { readonly kind: 'end_first'; readonly ends: EndFirst }
  | { readonly kind: 'question'; readonly question: string }
  | RemovalRefused;

export interface EndFirst {
  readonly processes: readonly InsideProcess[];
  readonly tmux: readonly string[];
  /** The session that holds the task has to give it up first, or it would be started again. */
  readonly lease: boolean;
}

interface RemovalRefused {
  readonly kind: 'refused';
  readonly because: RemovalRefusal;
  readonly reason: string;
  /** What would work instead, most likely first: commands, or an instruction where no command exists. */
  readonly next: readonly [string, ...string[]];
}

type Rules = Pick<Policy, 'removal' | 'maintenance'>;

export function decideRemoval(facts: RemovalFacts, request: RemovalRequest, policy: Rules): RemovalDecision {
  const refusal =
    refuseWhatIsNotOurs(facts) ??
    refuseWhatIsUnknown(facts, request) ??
    refuseOthers(facts, request) ??
    refuseWhatIsWanted(facts, request, policy);
  if (refusal !== undefined) return refusal;

  const ends = agentsOwn(facts);
  if (ends !== undefined) {
    return mayEnd(facts, request) ? { kind: 'end_first', ends } : refuseLiveAgent(facts, ends, request);
  }
  const locked = refuseLocks(facts, request, policy);
  if (locked !== undefined) return locked;

  const stake = atStake(facts);
  if (stake.length > 0) {
    const isUnknown = facts.uncommitted === null || facts.unmerged === null;
    if (request.by === 'landing' || (request.by === 'sweep' && isUnknown))
      return refuseWorkLeft(facts, stake);
    if (request.by === 'person' && !request.isForced) {
      return { kind: 'question', question: `Remove the worktree of ${facts.task}? ${stake.join(' ')}` };
    }
  }
  return { kind: 'allowed', branch: branchAfter(facts, request) };
}

function refuseWhatIsNotOurs({
  task,
  path,
  isManaged,
  disposition,
}: RemovalFacts): RemovalRefused | undefined {
  if (!isManaged) {
    return refuse(
      'not_managed',
      `${shown(path)} is not a worktree that Copse made, so Copse does not remove it.`,
      'copse worktrees',
    );
  }
  if (disposition?.is === 'released') {
    return refuse('already_released', `The worktree of ${task} is already removed.`, 'copse undo');
  }
  return undefined;
}

function refuseWhatIsUnknown(facts: RemovalFacts, request: RemovalRequest): RemovalRefused | undefined {
  const { task, path, inside, tmux, unreadable } = facts;
  if (inside === null || tmux === null) {
    const what = inside === null ? 'which processes are inside' : 'whether a tmux terminal is open there';
    return refuse(
      'processes_unknown',
      `${shown(path)} is kept: Copse cannot tell ${what}.`,
      inside === null ? 'Install lsof, then run this again.' : 'tmux list-sessions',
    );
  }
  const [first] = unreadable;
  if (first !== undefined && request.by !== 'person') {
    return refuse(
      'processes_unknown',
      `${shown(path)} is kept: ${named(first)} may be inside, and the system does not show where it is.`,
      `copse cleanup ${task}`,
    );
  }
  return undefined;
}

/** With or without force: the owners of these processes did not ask for the removal. */
function refuseOthers(
  { task, path, inside, lease }: RemovalFacts,
  request: RemovalRequest,
): RemovalRefused | undefined {
  const foreign = (inside ?? []).filter(({ isOurs }) => !isOurs);
  const [first] = foreign;
  if (first !== undefined) {
    const others = foreign.length - 1;
    const who =
      others === 0
        ? `${named(first)} is`
        : `${named(first)} and ${counted(others, 'more process', 'es')} are`;
    return refuse(
      'foreign_process',
      `Kept the worktree ${shown(path)}: ${who} in it.`,
      `${againOf(request) ?? `copse cleanup ${task}`} # after you leave the folder or end the process`,
    );
  }
  if (lease.kind === 'live' && lease.holder === 'elsewhere') {
    return refuse(
      'leased_elsewhere',
      `${task} is held by a session on another machine, so its worktree is kept.`,
      `copse show ${task}`,
    );
  }
  return undefined;
}

/** A person can remove these by name; a sweep or a landing cannot. */
function refuseWhatIsWanted(
  facts: RemovalFacts,
  request: RemovalRequest,
  policy: Rules,
): RemovalRefused | undefined {
  const { task, disposition, status, lease } = facts;
  const isNamed = request.by === 'person' && request.isNamed;
  if (disposition?.is === 'kept' && !isNamed) {
    return refuse(
      'kept',
      `The worktree of ${task} is kept. ${keptBecause(disposition)}`,
      `copse cleanup ${task}`,
    );
  }
  if (request.by === 'person') return undefined;

  if (status === null) return refuseUnlessOrphan(facts);
  if (isFinished(status)) {
    const isUnmerged = request.by === 'landing' && facts.branch === 'unmerged';
    return isUnmerged ? refuseWorkLeft(facts, ['Its branch is not merged.']) : undefined;
  }
  if (request.by === 'sweep') {
    const isAbandoned =
      status === 'in_progress' &&
      lease.kind === 'expired' &&
      lease.forMs >= policy.maintenance.abandonedWorktreeAgeMs &&
      !facts.isByHand &&
      !facts.hasRunner;
    const isFailed = status === 'failed' && request.cleanupOnFailure === true && !facts.hasRunner;
    if (isAbandoned || isFailed) return undefined;
  }
  return refuse(
    'task_open',
    `${task} is ${status}, so its worktree is kept.`,
    `copse cleanup ${task}`,
    `copse show ${task}`,
  );
}

/** An orphan has no record, no process and no content that only it has. */
function refuseUnlessOrphan(facts: RemovalFacts): RemovalRefused | undefined {
  const { task, path, disposition, uncommitted, unmerged, operation } = facts;
  const isProven =
    disposition === null && uncommitted === 0 && unmerged === 0 && operation === null && !agentsOwn(facts);
  if (isProven) return undefined;
  return refuse(
    'work_left',
    `The board has no record of ${shown(path)}, and it may hold work that is nowhere else.`,
    `copse cleanup ${task}`,
  );
}

/** The agent's processes, terminals and lease; undefined when it has none. */
function agentsOwn({ inside, tmux, lease }: RemovalFacts): EndFirst | undefined {
  const processes = (inside ?? []).filter(({ isOurs }) => isOurs);
  const terminals = (tmux ?? []).map(({ name }) => name);
  const isLeased = lease.kind === 'live';
  if (processes.length === 0 && terminals.length === 0 && !isLeased) return undefined;
  return { processes, tmux: terminals, lease: isLeased };
}

/** Without force only processes that a finished task left running: a development server, a watcher. */
function mayEnd({ status, lease }: RemovalFacts, request: RemovalRequest): boolean {
  if (request.by === 'person') return request.isForced && request.isNamed;
  return status !== null && isFinished(status) && lease.kind === 'none';
}

function refuseLiveAgent({ task }: RemovalFacts, ends: EndFirst, request: RemovalRequest): RemovalRefused {
  const [process] = ends.processes;
  const [terminal] = ends.tmux;
  const what =
    process !== undefined
      ? `${named(process)} runs in its worktree`
      : terminal !== undefined
        ? `its terminal ${shown(terminal)} is open`
        : null;
  const next = [
    `copse cleanup ${task} --force # to stop its agent and remove its worktree`,
    `copse show ${task} # to look at it first`,
  ] as const;
  const hint = request.by === 'person' ? '' : ' Copse tries again later.';
  const is =
    what === null
      ? `An agent of ${task} is starting or running.`
      : `The agent of ${task} is still running: ${what}.`;
  return refuse('agent_alive', `${is}${hint}`, ...next);
}

/**
 * A stale lock goes to the trash with the rest; a rescue does not need the worktree's own index. A forced removal has just
 * ended the agent, and with it the git that left the lock.
 */
function refuseLocks(
  facts: RemovalFacts,
  request: RemovalRequest,
  policy: Rules,
): RemovalRefused | undefined {
  const isForced = request.by === 'person' && request.isForced;
  const isStale = ({ ageMs }: GitLock) => isForced || ageMs >= policy.removal.staleLockAgeMs;
  const lock = facts.locks.find((one) => one.isHeld || !isStale(one));
  if (lock === undefined) return undefined;
  return refuse(
    'git_lock',
    `A git command may be running in the worktree of ${facts.task}: ${shown(lock.file)} exists${lock.isHeld ? ' and git is running' : ''}.`,
    lock.isHeld
      ? `copse cleanup ${facts.task} # when git has ended`
      : `copse cleanup ${facts.task} --force # to stop that and remove the worktree`,
  );
}

/** Sentences about work that would leave with the worktree; none if there is no such work. */
function atStake(facts: RemovalFacts): readonly string[] {
  const { uncommitted, unmerged, operation, disposition, status, unreadable } = facts;
  const work = [
    ...countedIfAny(uncommitted, 'uncommitted change'),
    ...countedIfAny(unmerged, 'unmerged commit'),
    ...(operation === null ? [] : [`an unfinished ${shown(operation)}`]),
  ];
  const [first] = unreadable;
  return [
    ...(work.length === 0
      ? []
      : [`It has ${list(work)}. A removal keeps commits on the branch, and uncommitted files as a rescue.`]),
    ...(disposition?.is === 'kept' ? [keptBecause(disposition)] : []),
    ...(status === 'landing' ? ['Its branch is in the merge queue.'] : []),
    ...(first === undefined ? [] : [`${named(first)} may be inside.`]),
  ];
}

const keptFor = {
  conflict: 'Its branch conflicts with the target.',
  debugging: 'Its agent did not finish.',
  asked: 'A person has to look at it first.',
} as const;

/** The first line of the recorded reason, or else a general sentence. */
function keptBecause({ why, detail }: Extract<Disposition, { is: 'kept' }>): string {
  const [first = ''] = detail.trim().split('\n');
  if (first === '') return keptFor[why];
  return `${shown(first).replace(/[.:;]$/, '')}.`;
}

function refuseWorkLeft({ task }: RemovalFacts, stake: readonly string[]): RemovalRefused {
  return refuse(
    'work_left',
    `The worktree of ${task} is kept. ${stake.join(' ')}`,
    `copse diff ${task}`,
    `copse cleanup ${task}`,
  );
}

function branchAfter({ branch }: RemovalFacts, request: RemovalRequest): 'delete' | 'keep' {
  if (branch === 'gone') return 'keep';
  if (branch === 'merged') return 'delete';
  switch (request.by) {
    case 'person':
      return request.deleteBranch && request.isNamed ? 'delete' : 'keep';
    case 'sweep':
      return request.pruneUnmergedBranches ? 'delete' : 'keep';
    case 'landing':
      return 'keep';
    default:
      return unreachable(request);
  }
}

function againOf(request: RemovalRequest): string | undefined {
  return request.by === 'person' ? request.again : undefined;
}

function named({ name, pid }: InsideProcess): string {
  return `${shown(name)} (pid ${pid})`;
}

function countedIfAny(found: number | null, noun: string): readonly string[] {
  if (found === null) return [`${noun}s that cannot be counted`];
  return found === 0 ? [] : [counted(found, noun)];
}

function list(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

function refuse(
  because: RemovalRefusal,
  reason: string,
  ...next: readonly [string, ...string[]]
): RemovalRefused {
  return { kind: 'refused', because, reason, next };
}
