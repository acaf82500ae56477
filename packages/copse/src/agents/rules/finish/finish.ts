/**
 * The finish gate: whether an agent that wants to stop may count as finished, decided from facts about its worktree.
 *
 *   1. uncommitted changes   handed back, committed for it, or failed        (`on_dirty`)
 *   2. nothing committed     handed back, unless it said that there is nothing to do
 *   3. commit messages       noted or handed back                            (`commit_convention`)
 *   4. accept commands       handed back with the end of their output
 *   5. a trial merge         handed back with the files and the other side
 *
 * in this order, and the first that fails is what the agent hears. What costs time (4 and 5) is looked at only when all
 * before it passed: a fact that is missing makes the gate ask for it. The gate trusts nobody: it runs while the agent can
 * still go on, and again when its process is gone.
 */

import { type ConflictDetails, describeConflict } from './conflict.ts';
import type { CommitId, TaskId } from '../../../kernel/ids.ts';
import type { HandbackReason } from '../../../tasks/rules/task.ts';
import { listed, shown } from '../../../kernel/text.ts';

export interface FinishRules {
  readonly onDirty: 'handback' | 'commit' | 'fail';
  readonly commitConvention: 'off' | 'warn' | 'require';
  readonly accept: readonly string[];
}

export interface CommitFacts {
  readonly id: CommitId;
  readonly subject: string;
  readonly isMerge: boolean;
}

interface AcceptFailure {
  readonly command: string;
  /** What it ended with, or null when it took too long. */
  readonly exitCode: number | null;
  readonly tail: readonly string[];
}

export interface MissingWork {
  readonly task: TaskId;
  readonly ref: string;
  /** It may be on another machine. */
  readonly isHere: boolean;
}

export interface FinishFacts {
  readonly task: TaskId;
  readonly target: string;
  /** Changed and untracked files; null for work that has no files. */
  readonly uncommitted: readonly string[] | null;
  /** A merge, rebase or the like that is not finished. */
  readonly operation: string | null;
  /** Files of a merge that is not finished that still have conflict markers. */
  readonly unresolved: readonly string[];
  /** What the branch has and the target has not, newest first. */
  readonly commits: readonly CommitFacts[];
  /** The agent said that there is nothing to do. */
  readonly saysNoChanges: boolean;
  /** Undefined: the commands were not run yet. */
  readonly accept: AcceptFailure | 'passed' | undefined;
  /** Undefined: not tried yet. */
  readonly merge:
    | (ConflictDetails & {
        readonly conflicts: readonly string[];
        /** The queue knows what to do about a conflict without the agent. */
        readonly isForQueue: boolean;
      })
    | undefined;
  /** For a task that resolves the conflict of another: what its branch has to contain and does not. */
  readonly missing?: MissingWork | null;
}

export type GateVerdict =
  | { readonly gate: 'look'; readonly at: 'accept' | 'merge' }
  /** Copse commits for the agent, then the gate is asked again. */
  | { readonly gate: 'commit' }
  | {
      readonly gate: 'shut';
      readonly because: HandbackReason;
      /** What the agent, or a person, reads. */
      readonly reason: string;
      /** Not to be handed back at all. */
      readonly isFinal: boolean;
      readonly files: readonly string[];
      readonly with: readonly TaskId[];
    }
  | { readonly gate: 'open'; readonly hasChanges: boolean; readonly notes: readonly string[] };

export function decideGate(facts: FinishFacts, rules: FinishRules): GateVerdict {
  const dirty = refuseDirty(facts, rules);
  if (dirty !== undefined) return dirty;
  if (facts.uncommitted === null) return gateAccept(facts, rules, []);
  if (facts.missing) return shut('conflict', notMerged(facts.missing));
  if (facts.commits.length === 0) {
    if (facts.saysNoChanges) return { gate: 'open', hasChanges: false, notes: [] };
    return shut('nothing_committed', nothingCommitted(facts));
  }
  const unconventional = facts.commits.filter(({ subject, isMerge }) => !isMerge && !isConventional(subject));
  if (unconventional.length > 0 && rules.commitConvention === 'require') {
    return shut('commit_message', badMessages(unconventional));
  }
  const notes =
    unconventional.length > 0 && rules.commitConvention === 'warn' ? [badMessages(unconventional)] : [];
  const accepted = gateAccept(facts, rules, notes);
  if (accepted.gate !== 'open') return accepted;
  if (facts.merge === undefined) return { gate: 'look', at: 'merge' };
  const { conflicts, isForQueue } = facts.merge;
  if (conflicts.length === 0) return accepted;
  if (!isForQueue) return refuseConflict(facts, facts.merge);
  const note = `It conflicts with ${shown(facts.target)}, which is left to the queue:\n${listed(conflicts)}`;
  return { ...accepted, notes: [...accepted.notes, note] };
}

function notMerged({ task, ref, isHere }: MissingWork): string {
  const what = `The branch does not contain the work of ${task}, whose conflict it is to resolve.`;
  if (isHere) return `${what} Bring it in: git merge ${ref}`;
  return `${what} That work is not on this machine: the task says how to have it brought here. Without it, say so with copse stuck.`;
}

function refuseDirty(
  { uncommitted, operation, unresolved, task }: FinishFacts,
  { onDirty }: FinishRules,
): GateVerdict | undefined {
  if (operation === 'merge' && onDirty === 'commit') {
    if (unresolved.length === 0) return { gate: 'commit' };
    const reason = `These files still have conflict markers:\n${listed(unresolved)}\nKeep what both sides meant, and take the markers out.`;
    return shut('conflict', reason, unresolved);
  }
  if (operation !== null) {
    return shut(
      'dirty',
      `A ${shown(operation)} is in the middle of being done in the worktree. Finish it or abort it, then finish ${task} again.`,
    );
  }
  if (uncommitted === null || uncommitted.length === 0) return undefined;
  if (onDirty === 'commit') return { gate: 'commit' };
  const reason = `There are uncommitted changes:\n${listed(uncommitted)}\nCommit what belongs to ${task}, undo or ignore the rest.`;
  return { ...shut('dirty', reason, uncommitted), isFinal: onDirty === 'fail' };
}

function nothingCommitted({ task, target }: FinishFacts): string {
  return [
    `Nothing was committed for ${task}: its branch has no commit that ${shown(target)} lacks.`,
    'Commit the work. If there is truly nothing to do, say so: copse finish --no-changes',
  ].join('\n');
}

function gateAccept(
  { accept }: FinishFacts,
  { accept: commands }: FinishRules,
  notes: readonly string[],
): GateVerdict {
  if (commands.length === 0) return { gate: 'open', hasChanges: true, notes };
  if (accept === undefined) return { gate: 'look', at: 'accept' };
  if (accept === 'passed') return { gate: 'open', hasChanges: true, notes };
  const { command, exitCode, tail } = accept;
  const ended = exitCode === null ? 'took too long' : `ended with ${exitCode}`;
  return shut(
    'accept',
    [`This must succeed and ${ended}: ${command}`, ...tail.map((line) => `  ${line}`)].join('\n'),
  );
}

function refuseConflict(
  { task, target }: FinishFacts,
  { conflicts, ...details }: NonNullable<FinishFacts['merge']>,
): GateVerdict {
  const reason = describeConflict({ task, target, files: conflicts, ...details, isNews: true });
  return shut(
    'conflict',
    reason,
    conflicts,
    details.with.map(({ task: other }) => other),
  );
}

function shut(
  because: HandbackReason,
  reason: string,
  files: readonly string[] = [],
  others: readonly TaskId[] = [],
): Extract<GateVerdict, { gate: 'shut' }> {
  return { gate: 'shut', because, reason, isFinal: false, files, with: others };
}

const CONVENTIONAL = /^[a-z]+(?:\([^()]+\))?!?: \S/;
/** What git itself writes. */
const BY_GIT = /^(?:Revert "|Merge |fixup! |squash! |amend! )/;

function isConventional(subject: string): boolean {
  return CONVENTIONAL.test(subject) || BY_GIT.test(subject);
}

function badMessages(commits: readonly CommitFacts[]): string {
  const lines = listed(commits.map(({ id, subject }) => `${id.slice(0, 8)} ${subject}`));
  return [
    'These commit messages do not follow the convention (type(scope): subject, such as "fix(auth): refuse empty tokens"):',
    lines,
  ].join('\n');
}
