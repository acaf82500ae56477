/** Every sentence about the merge queue: why an entry waits, where it stands, which check runs and for what. */

import { SECOND } from '../../kernel/limits.ts';
import { spanText } from '../../kernel/time.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import { counted, listed, named, shown } from '../../kernel/text.ts';
import { statusPredicate } from '../../tasks/rules/task.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import {
  type FaultyCheck,
  type LoggedFault,
  exitText,
  faultClause,
  faultText,
} from '../../queue/rules/check-fault.ts';
import type { Verdict } from '../../queue/rules/check.ts';
import type { Pause, QueueSwitch } from '../../queue/rules/merge-queue.ts';
import type { EntryStanding } from '../../queue/rules/view/standing.ts';
import type { EntryView, RunView } from '../../queue/rules/view/view.ts';
import { type StoredWaitReason, type WaitReason, readWaitReason } from '../../queue/rules/wait-reason.ts';

/** A clause for "stays in the queue: …" and "waits: …". `target`: the branch of the queue, where it is not named before. */
export function waitText(stored: StoredWaitReason, target?: string): string {
  const reason = readWaitReason(stored);
  const queue = queueName(target);
  switch (reason.kind) {
    case 'dependency':
      return `it depends on ${reason.task}, which ${statusPredicate(reason.status)}`;
    case 'not_accepted':
      return withComment(`${queue} accepts no new tasks`, reason.comment);
    case 'paused':
      return withComment(`${queue} is paused`, reason.comment);
    case 'checkout_changed': {
      const [first = '', ...others] = reason.files;
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      return `the checkout at ${reason.checkout} has uncommitted changes in ${first}${more}`;
    }
    case 'checkout_busy':
      return `the checkout at ${reason.checkout} is busy: ${reason.detail}`;
    case 'push_failed':
      return `${reason.target} could not be pushed: ${reason.detail}`;
    case 'remote_unreachable':
      return `the remote cannot be reached: ${reason.detail}`;
    case 'head_missing': {
      const by = reason.node === null ? '' : `, which machine ${reason.node} finished`;
      return `the leader does not have its commit ${reason.head.slice(0, 10)}${by}: ${reason.detail}`;
    }
    case 'target_missing':
      return `there is no branch ${reason.target} to land on`;
    case 'target_diverged': {
      const { target, remote } = reason;
      return `${target} and ${remote}/${target} have diverged; run git pull --rebase ${remote} ${target}`;
    }
    case 'checks_unavailable':
      return `its checks cannot run: ${reason.detail}`;
    case 'target_red':
      return redTargetText(reason.target ?? target ?? 'the target', reason.failed);
    case 'landing_failed':
      return `landing it failed and is retried: ${reason.detail}`;
    case 'one_at_a_time':
      return 'several changes failed to land together, so they land one at a time';
    case 'queue_failed':
      return `${queue} cannot go on: ${reason.detail}`;
    case 'no_slot':
      return 'no check slot is free';
    case 'nothing_to_check':
      return 'no check can start';
    case 'note':
      return reason.text;
    default:
      return unreachable(reason);
  }
}

/** `check "unit" fails on main itself (exit code 1)`. */
function redTargetText(target: string, failed: FaultyCheck | undefined): string {
  if (failed === undefined) return `${target} itself fails its checks`;
  const { name, setup, fault } = failed;
  const what = setup === undefined ? `check "${name}"` : 'the set-up';
  const command = setup === undefined ? '' : `: ${setup}`;
  return fault.kind === 'exit'
    ? `${what} fails on ${target} itself (${exitText(fault.code)})${command}`
    : `on ${target} itself, ${what} ${faultClause(fault)}${command}`;
}

/** Of a queue that stalled: `the queue of main is paused`, or the queue with `verb` and why. */
export function stalledText(
  { id, reason }: { readonly id: string; readonly reason: StoredWaitReason },
  verb: '' | ' stalled',
): string {
  const why = (waitText(reason, id).split('\n', 1)[0] ?? '').replace(/[:;.]$/, '');
  return isAboutQueue(readWaitReason(reason)) ? why : `${queueName(id)}${verb}: ${why}`;
}

function queueName(target: string | undefined): string {
  return target === undefined ? 'the queue' : `the queue of ${target}`;
}

/** Its sentence begins with the name of the queue. */
function isAboutQueue({ kind }: WaitReason): boolean {
  return kind === 'paused' || kind === 'not_accepted' || kind === 'queue_failed';
}

function withComment(text: string, comment: string | null): string {
  return comment === null ? text : `${text} (${comment})`;
}

/** `It is being checked with cp-a1b2.` */
export function standingSentence(standing: EntryStanding): string {
  // The command is a step of its own.
  if (standing.kind === 'held' && standing.reason.kind === 'not_accepted')
    return `${withComment('It joined after the queue was closed to new tasks', standing.reason.comment)}; it lands after the queue is resumed.`;
  const text = standing.kind === 'no_leader' ? noLeaderText(standing) : standingText(standing);
  return `It ${/^(being|landing|waiting)\b/.test(text) ? 'is ' : ''}${text}.`;
}

/** What follows the id of the task: `being checked with cp-a1b2`, `waits for a free slot`. */
export function standingText(standing: EntryStanding): string {
  switch (standing.kind) {
    case 'landing':
      return 'landing now';
    case 'handed_back':
      return 'failed its checks (retried once) and is handed back';
    case 'dependent':
      return `waits for ${standing.on}, which it depends on`;
    case 'held':
      return `waits: ${waitText(standing.reason)}`;
    case 'stalled':
      return 'waits: the queue is stalled';
    case 'no_leader':
      return withComment(noLeaderText(standing), `copse merge ${standing.task} lands it now`);
    case 'unchecked':
      return `lands without checks ${SOON}`;
    case 'no_checks':
      return `lands ${SOON}`;
    case 'in_line':
      return inLineText(standing);
    case 'checking':
      return `being checked${standing.purpose === 'again' ? ' again' : ''}${together(standing.with)}${CHECKED_HOW[standing.purpose]}`;
    case 'check_lost':
      return `will be checked again${together(standing.with)} ${SOON}`;
    case 'target_check':
      return `failed its checks${together(standing.with)}; Copse checks ${standing.target} alone before it hands a task back`;
    case 'recheck':
      return standing.wasRed
        ? 'failed its checks once; Copse checks it again, because a check may be flaky'
        : `will be checked again${together(standing.with)} as soon as a slot is free`;
    case 'half':
      return standing.isSecond
        ? `waits for the first half of a batch that failed; its own half${together(standing.with)} will be checked next`
        : `will be checked next${together(standing.with)}, as the first half of a batch that failed`;
    case 'after_hotfix':
      return `passed; the hotfix ${standing.hotfix} lands first`;
    case 'in_train':
      return `passed; it joins the train${standing.behind.length === 0 ? '' : ` behind ${named(standing.behind)}`}`;
    case 'train_check':
      return `passed; the train up to ${standing.upTo ?? 'its end'} is being checked`;
    default:
      return unreachable(standing);
  }
}

/** The same with the branch that it lands on, where that branch fits into the words. */
export function standingOn(standing: EntryStanding, target: string): string {
  const text = standingText(standing);
  switch (standing.kind) {
    case 'held':
      return `waits: ${waitText(standing.reason, target)}`;
    case 'stalled':
      return `waits: ${queueName(target)} is stalled`;
    case 'landing':
    case 'unchecked':
    case 'no_checks':
    case 'checking':
      return `${text} on ${target}`;
    default:
      return text;
  }
}

const verdicts: Readonly<Record<Verdict, string>> = {
  green: 'passed',
  red: 'failed',
  timeout: 'timed out',
  infrastructure: 'could not run',
  abandoned: 'was stopped',
};

/** What happened to a check, after its name. The dashboard has the verdict as a text. */
export function verdictWord(verdict: string): string {
  const words: Readonly<Record<string, string>> = verdicts;
  return words[verdict] ?? verdict;
}

/** The longest time until a leader looks at its queue. */
const SOON = 'within 5 s';

/** What is special about the check that an entry is part of. */
const CHECKED_HOW: Readonly<Record<RunView['purpose'], string>> = {
  again: ' (2nd run)',
  half: ' as half of a failed batch',
  second_half: ' as half of a failed batch',
  alone: ' first and alone',
  batch: '',
  probe: '',
  target: '',
};

function noLeaderText({ isCheckLost }: Extract<EntryStanding, { kind: 'no_leader' }>): string {
  return isCheckLost
    ? 'lost its check when the orchestrator ended; the next one checks it again'
    : 'waits: no orchestrator is running here';
}

function inLineText({ behind, hasFreeSlot }: Extract<EntryStanding, { kind: 'in_line' }>): string {
  if (behind.length > 0) return `waits for a free slot, behind ${named(behind)}`;
  return `waits for ${hasFreeSlot ? 'its check to start' : 'a free slot'}`;
}

function together(others: readonly TaskId[]): string {
  return others.length === 0 ? '' : ` with ${named(others)}`;
}

/** What a check is for: `a batch of 3: cp-a1b2, cp-c3d4 and cp-e5f6`. */
export function runText({ purpose, about, below, tasks, target }: RunView): string {
  const onTop = below === 0 ? '' : ` on top of ${counted(below, 'change')} in flight`;
  const isOne = about.length === 1;
  switch (purpose) {
    case 'batch':
      return `${isOne ? '' : `a batch of ${about.length}: `}${named(about)}${onTop}`;
    case 'again':
      return `${isOne ? '' : `${about.length} changes: `}${named(about)}, 2nd run`;
    case 'half':
      return `half of a failed batch: ${named(about)}`;
    case 'second_half':
      return `the other half of a failed batch: ${named(about)}`;
    case 'probe':
      return `the train up to ${tasks.at(-1) ?? 'its end'} (${counted(tasks.length, 'change')})`;
    case 'target':
      return `${target} alone, with nothing merged into it`;
    case 'alone':
      return `${named(about)} alone`;
    default:
      return unreachable(purpose);
  }
}

const PAUSED: Readonly<Record<QueueSwitch, string>> = {
  accept: 'no new tasks are accepted',
  land: 'nothing lands',
};

/** What a paused switch stops. */
export function pauseText(what: QueueSwitch, { reason }: Pause): string {
  return reason === null ? PAUSED[what] : `${PAUSED[what]} (${reason})`;
}

/** `about 2 min`, `30 s to 2 min`, `27 to 258 ms`. */
export function rangeText({ fromMs, toMs }: NonNullable<EntryView['range']>): string {
  // `817 ms to 3 s` promises more than anyone knows.
  const shortest = toMs >= SECOND ? Math.max(SECOND, fromMs) : fromMs;
  const [from, to] = [spanText(shortest), spanText(toMs)];
  if (from === to) return `about ${to}`;
  const unitOf = (span: string) => /^\d+ (\S+)$/.exec(span)?.[1];
  const isSameUnit = unitOf(from) !== undefined && unitOf(from) === unitOf(to);
  return `${isSameUnit ? Number.parseInt(from, 10) : from} to ${to}`;
}

interface RedCheck extends LoggedFault {
  readonly tail: string;
  /** As copse.yml has it. */
  readonly command?: string | readonly string[] | undefined;
}

interface Submitted {
  readonly task: TaskId;
  readonly target: string;
}

/** Why checks hand a change back, with the output of the one that failed. */
export function redText(
  { target }: Pick<Submitted, 'target'>,
  { isTimeout, failure }: { readonly isTimeout: boolean; readonly failure: RedCheck | undefined },
): string {
  const where = `on ${shown(target)} merged with this branch`;
  if (failure === undefined)
    return `The checks ${isTimeout ? 'timed out' : 'failed'} (retried once) ${where}.`;
  const { fault, log, tail } = failure;
  const isRun = fault.kind === 'exit' || fault.kind === 'timeout' || fault.kind === 'crash';
  return [
    faultText(failure, { isRetried: true, where: `${isRun ? ' ' : ', '}${where}` }),
    ...(tail.trim() === '' ? [] : ['', tail.trimEnd(), '']),
    ...(log === null ? [] : [tail.trim() === '' ? silentText(failure) : `Full output: ${log}`]),
  ].join('\n');
}

/** The command of a set-up stands in the sentence before. */
function silentText({ setup, command }: RedCheck): string {
  if (setup !== undefined) return 'The set-up printed nothing.';
  if (command === undefined) return 'The check printed nothing.';
  const line = typeof command === 'string' ? command.trim() : command.map(shellWord).join(' ');
  const [first = '', ...more] = line.split('\n');
  return `The check printed nothing. Its command: ${shown(first)}${more.length === 0 ? '' : ' …'}`;
}

export function revertsText({ task, target }: Submitted, files: readonly string[]): string {
  return [
    `A merge on the branch of ${task} reverts changes that other tasks landed on ${shown(target)}:`,
    listed(files),
    'Merge again so that their changes stay, and finish again.',
  ].join('\n');
}

export function unfitText({ task }: Pick<Submitted, 'task'>, problems: readonly string[]): string {
  return [
    `The branch of ${task} adds files that some systems cannot check out:`,
    listed(problems),
    'Rename or remove them, in every commit of the branch, and finish again.',
  ].join('\n');
}

/** `problem` as git printed it. */
export function unsoundText({ task }: Pick<Submitted, 'task'>, problem: string): string {
  return [
    `git fsck finds faults in the new commits of ${task}:`,
    listed(problem.split('\n')),
    'Make these commits anew with plain git commands, and finish again.',
  ].join('\n');
}

export function unrelatedText({ task, target }: Submitted): string {
  return `The branch of ${task} and ${shown(target)} have no commit in common.`;
}
