/**
 * The words for a task's status and for how it got there. Lists, `show`, `why`, event lines, notices and the demo take
 * them from here, so that all of them say the same. Clauses begin with a small letter; `sentence` makes them sentences.
 */

import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import { named } from '../../kernel/text.ts';
import { spanText } from '../../kernel/time.ts';
import { noBaseBefore } from '../../workspaces/rules/preparation.ts';
import type { PlannedRestart } from '../../tasks/rules/auto-restart.ts';
import {
  type AttentionCause,
  type Delay,
  type DoneHow,
  type StuckBy,
  type TaskState,
  type TaskStatus,
  type TaskSummary,
  delayCauses,
} from '../../tasks/rules/task.ts';

/** What a status means, when nothing more is known about the task. */
export const statusTexts: Readonly<Record<TaskStatus, string>> = {
  pending: 'waiting for other tasks',
  ready: 'ready to start',
  in_progress: 'in progress',
  paused: 'paused by a person',
  stuck: 'its agent asks for a decision',
  in_review: 'finished, waiting for your review',
  landing: 'finished, queued to land',
  needs_attention: 'finished, but it cannot land without you',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};

const doneTexts: Readonly<Record<DoneHow, string>> = {
  landed: 'landed',
  pull_request: 'its pull request was merged',
  artifacts: 'finished, without code to land',
  no_changes: 'finished: there was nothing to change',
  as_it_is: 'finished; its branch stays as it is, because landing.policy is none',
};

export function doneText({ how, commit }: Pick<Extract<TaskState, { status: 'done' }>, 'how' | 'commit'>) {
  const isOnTarget = how === 'landed' || how === 'pull_request';
  return isOnTarget && commit !== null ? `${doneTexts[how]} as ${commit.slice(0, 10)}` : doneTexts[how];
}

/** Null once the repository has what the task lacked: its reason says that. */
export function stuckClauseNow({
  id,
  state,
}: {
  readonly id: TaskId;
  readonly state: Extract<TaskState, { status: 'stuck' }>;
}): string | null {
  const { lacks, reason } = state;
  return lacks !== undefined && reason === noBaseBefore(id, lacks) ? null : stuckClause(state);
}

export function stuckClause({ isByCopse, isByHand }: StuckBy): string {
  if (isByHand) return 'it needs a decision';
  return isByCopse ? 'its agent cannot start' : statusTexts.stuck;
}

/** `reason` says the same with details, or only the details; `repeats`: its first line adds nothing; `announces`: it says the same before a list. */
const attentionTexts: Readonly<
  Record<
    AttentionCause,
    { readonly clause: string; readonly reason: 'says_all' | 'adds' | 'repeats' | 'details' | 'announces' }
  >
> = {
  conflict: { clause: 'it conflicts with its target', reason: 'says_all' },
  checks: { clause: 'its checks fail', reason: 'says_all' },
  push: { clause: 'it could not be pushed', reason: 'says_all' },
  unfit: { clause: 'some systems cannot check out its files', reason: 'says_all' },
  landing: { clause: 'landing it failed', reason: 'adds' },
  unreadable: { clause: 'Copse cannot read its worktree or branch', reason: 'adds' },
  dirty: { clause: 'the agent left uncommitted work', reason: 'says_all' },
  nothing_committed: { clause: 'the agent made no commits and left no changes', reason: 'repeats' },
  no_artifact: { clause: 'the agent added no artifact', reason: 'repeats' },
  not_imported: { clause: 'its commits do not have the files to import', reason: 'details' },
  branch: { clause: 'its commits are not on the branch of the task', reason: 'details' },
  commit_message: { clause: 'commit messages break the convention', reason: 'announces' },
  accept: { clause: 'the agent stopped while an accept command still fails', reason: 'says_all' },
};

interface AttentionNeeded {
  readonly because: AttentionCause;
  readonly reason: string;
}

export function attentionClause(because: AttentionCause): string {
  return attentionTexts[because].clause;
}

/** Whether its text begins with words of Copse, not with the name of a branch or a file. */
export function beginsWithClause({ because }: Pick<AttentionNeeded, 'because'>): boolean {
  return attentionTexts[because].reason !== 'says_all';
}

/** In one line, with the first of the files that it lists. */
export function attentionText({ because, reason }: AttentionNeeded): string {
  const { clause, reason: use } = attentionTexts[because];
  if (use === 'details' || use === 'repeats' || use === 'announces') return clause;
  const text = firstLine(reason) + firstListed(reason);
  return use === 'adds' ? `${clause}: ${text}` : withStop(text);
}

/** The gate told its agent only which files. */
function withStop(text: string): string {
  return /^\d+ uncommitted file/.test(text) ? `Its agent stopped with ${text}` : text;
}

/** `: a.txt and 2 more`, if its first line announces a list. */
function firstListed(reason: string): string {
  const [first = '', ...others] = reason.split('\n');
  if (!first.endsWith(':')) return '';
  const end = others.findIndex((line) => !/^ {2}[^ <|]/.test(line));
  const [file, ...more] = end === -1 ? others : others.slice(0, end);
  if (file === undefined) return '';
  const unnamed = /^ {2}… and (\d+) more$/.exec(more.at(-1) ?? '')?.[1];
  const count = unnamed === undefined ? more.length : more.length - 1 + Number(unnamed);
  return `: ${file.trim()}${count === 0 ? '' : ` and ${count} more`}`;
}

/** Without the line that tells an agent how to continue: a person gets commands. */
export function reasonForPerson(reason: string): string {
  return reason
    .split('\n')
    .filter((line) => !/^Merge .+ with `copse sync /.test(line))
    .join('\n');
}

/** The task, without that line in its reason. */
export function taskForPerson<T extends TaskSummary>(task: T): T {
  const { state } = task;
  if (state.status !== 'needs_attention') return task;
  return { ...task, state: { ...state, reason: reasonForPerson(state.reason) } };
}

/** In one line, and the lines that add something to it. */
export function attentionDetails({ because, reason }: AttentionNeeded): {
  readonly text: string;
  readonly more: readonly string[];
} {
  const [first = '', ...others] = reason.split('\n');
  const text = attentionText({ because, reason: first });
  const filled = (lines: readonly string[]) => lines.filter((line) => line.trim() !== '');
  const use = attentionTexts[because].reason;
  if (use === 'details') return { text, more: filled([first, ...others]) };
  if (use === 'repeats') return { text, more: filled(others) };
  if (use === 'announces') return { text: first, more: filled(others) };
  // What it announces follows.
  return { text: first.endsWith(':') ? `${text}:` : text, more: filled(others) };
}

export function dependsOnCancelled(tasks: readonly TaskId[]): string {
  return `it cannot start: it depends on ${named(tasks)}, which ${tasks.length === 1 ? 'is' : 'are'} cancelled`;
}

export function resolvedByText(resolver: TaskId): string {
  return `it conflicts with its target; ${resolver} resolves that`;
}

export function delayText({ because }: Pick<Delay, 'because'>): string {
  return delayCauses[because];
}

export function failedText(attempts: number, lastError: string): string {
  return `${afterAttempts(attempts)}: ${lastError}`;
}

function afterAttempts(attempts: number): string {
  return `after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}; last error`;
}

/** Followed by a colon and the reason. `retries`: crashes since the last success or restart by a person. */
export function failureText(retries: number): string {
  return retries === 0 ? 'failed' : `failed ${afterAttempts(retries)}`;
}

export function failureClause(retries: number, reason: string): string {
  return `${failureText(retries)}: ${firstLine(reason)}`;
}

/** When and how often it is restarted without a person; null: never. */
export function restartText(plan: PlannedRestart, now: Timestamp): string | null {
  if (plan.kind === 'none') return null;
  if (plan.kind === 'used_up')
    return `restarted automatically ${plan.of} of ${plan.of} times, and failed again`;
  const { number, of, at } = plan;
  const done = number === 1 ? '' : `restarted automatically ${number - 1} of ${of} times; `;
  const next = at <= now ? 'now' : `in ${spanText(at - now)}`;
  return `${done}restarts automatically ${next} (${number} of ${of})`;
}

export function capitalised(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}

/** After a colon. The words of people mostly begin in other ways, and stay. */
export function afterColon(text: string): string {
  return /^(?:Its|The) /.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

export function sentence(clause: string): string {
  const text = capitalised(clause);
  return /[.?!…:]$/.test(text) ? text : `${text}.`;
}

/** Without a mark at its end, so that a sentence can go on after it. */
export function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/[:;.]$/, '');
}
