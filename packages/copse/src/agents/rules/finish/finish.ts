/**
 * The finish gate: decides from facts about the worktree whether an agent that stops is finished.
 *
 *   1. uncommitted changes   handed back, committed by Copse, or failed       (`on_dirty`)
 *      HEAD elsewhere        handed back, unless its commit was made in the worktree; then noted
 *   2. nothing committed     handed back, unless the agent reported `--no-changes`
 *      without a worktree    no artifact instead: the same
 *      an import             its files are not in the commit, unchanged
 *   3. commit messages       noted or handed back                             (`commit_convention`)
 *   4. accept commands       handed back with the end of their output
 *   5. a trial merge         handed back with the files and the other side    (conflict.ts)
 *
 * The checks run in this order, and the agent is told the first that fails. The slow ones (4 and 5) run only when all before
 * them passed: a missing fact makes the gate `undecided`. The gate runs while the agent can still continue, and again when
 * its process is gone, because the agent may change files in between.
 */

import {
  type ConflictDetails,
  type MissingWork,
  describeConflict,
  describeMissingWork,
  describeUnresolved,
} from './conflict.ts';
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
  /** Null after a timeout. */
  readonly exitCode: number | null;
  readonly tail: readonly string[];
}

/** HEAD of the worktree, which an agent can write, does not name the branch that the board has for the task. */
export type HeadFinding =
  /** On another branch, or detached (null). `isMadeHere`: its commit was made in the worktree. */
  | { readonly kind: 'elsewhere'; readonly on: string | null; readonly isMadeHere: boolean }
  /** HEAD is on the branch, which is a symbolic ref to another one. */
  | { readonly kind: 'alias' };

export interface FinishFacts {
  readonly task: TaskId;
  readonly target: string;
  /** The task's branch on the board; null for work that has no files. */
  readonly branch: string | null;
  /** Null when HEAD is on the task's branch. */
  readonly head: HeadFinding | null;
  /** There is no commit to land because the target already has those that were made here: it was moved past the queue. */
  readonly isPastQueue: boolean;
  /** Changed and untracked files; null for work that has no files. */
  readonly uncommitted: readonly string[] | null;
  /** Those of them that git cannot read, and so cannot commit. */
  readonly unreadable: readonly string[];
  /** An unfinished merge, rebase or the like. */
  readonly operation: string | null;
  /** Files of an unfinished merge that still have conflict markers. */
  readonly unresolved: readonly string[];
  /** Commits of the branch that the target lacks, newest first. */
  readonly commits: readonly CommitFacts[];
  /** The agent reported that nothing has to be done. */
  readonly saysNoChanges: boolean;
  /** Undefined: the commands have not run yet. */
  readonly accept: AcceptFailure | 'passed' | undefined;
  /** Undefined: not tried yet. */
  readonly merge:
    | (ConflictDetails & {
        readonly conflicts: readonly string[];
        /** The queue resolves the conflict without the agent. */
        readonly isForQueue: boolean;
        /** What git could not check out everywhere, in sentences. */
        readonly unfit?: string | null;
      })
    | undefined;
  /** For work that has no files: its results on the board, and why some could not be added. Null for all other work. */
  readonly results?: { readonly count: number; readonly problems: readonly string[] } | null;
  /** For an import: files whose content the branch does not have. */
  readonly unimported?: readonly string[];
  /** For a task that resolves another task's conflict. */
  readonly missing?: MissingWork | null;
  /** For work in the main checkout. */
  readonly inPlace?: InPlace;
}

interface InPlace {
  /** Files that had uncommitted changes before the session and have none now. */
  readonly disturbed: readonly string[];
  /** The snapshot that has them. */
  readonly rescue: string | null;
  /** HEAD still has the commit on which the session began. */
  readonly hasOld: boolean;
  readonly from: CommitId;
}

export type GateVerdict =
  | { readonly kind: 'undecided'; readonly needs: 'accept' | 'merge' }
  /** Copse commits for the agent, then asks the gate again. */
  | { readonly kind: 'uncommitted' }
  | {
      readonly kind: 'refused';
      readonly because: HandbackReason;
      /** For the agent, or for a person. */
      readonly reason: string;
      /** Never handed back: a person has to look. */
      readonly isFinal: boolean;
      /** The task fails by its settings. */
      readonly fails?: true;
      /** It is refused for this unfinished merge, rebase or the like. */
      readonly operation?: string;
      readonly files: readonly string[];
      readonly with: readonly TaskId[];
    }
  | { readonly kind: 'passed'; readonly hasChanges: boolean; readonly notes: readonly string[] };

export function decideGate(facts: FinishFacts, rules: FinishRules): GateVerdict {
  const disturbed = refuseDisturbed(facts);
  if (disturbed !== undefined) return disturbed;
  const dirty = refuseDirty(facts, rules);
  if (dirty !== undefined) return dirty;
  if (facts.uncommitted === null) return refuseWithoutResult(facts) ?? gateAccept(facts, rules, []);
  const misplaced = refuseMisplaced(facts);
  if (misplaced !== undefined) return misplaced;
  if (facts.missing) return refuse('conflict', describeMissingWork(facts.missing));
  if (facts.commits.length === 0) {
    if (facts.saysNoChanges) return { kind: 'passed', hasChanges: false, notes: [] };
    return refuse('nothing_committed', nothingCommitted(facts));
  }
  const unimported = facts.unimported ?? [];
  if (unimported.length > 0) return refuse('not_imported', notImported(facts, unimported), unimported);
  const unconventional = facts.commits.filter(({ subject, isMerge }) => !isMerge && !isConventional(subject));
  if (unconventional.length > 0 && rules.commitConvention === 'require') {
    return refuse('commit_message', badMessages(unconventional));
  }
  const notes = [
    ...(facts.head === null ? [] : [takenFromText(facts, facts.head)]),
    ...(unconventional.length > 0 && rules.commitConvention === 'warn' ? [badMessages(unconventional)] : []),
  ];
  const accepted = gateAccept(facts, rules, notes);
  if (accepted.kind !== 'passed') return accepted;
  if (facts.merge === undefined) return { kind: 'undecided', needs: 'merge' };
  const { conflicts, isForQueue, unfit } = facts.merge;
  if (unfit) return refuse('unfit', unfit);
  if (conflicts.length === 0) return accepted;
  if (!isForQueue) return refuseConflict(facts, facts.merge);
  const note = `It conflicts with ${shown(facts.target)}; the queue resolves that:\n${listed(conflicts)}`;
  return { ...accepted, notes: [...accepted.notes, note] };
}

function refuseDirty(facts: FinishFacts, { onDirty }: FinishRules): GateVerdict | undefined {
  const { uncommitted, unreadable, operation, unresolved, task, head } = facts;
  if (unreadable.length > 0) {
    const reason = `Git cannot read these files or folders of the worktree:\n${listed(unreadable)}\nMake them readable, ignore them or delete them.`;
    return refusedDirty(reason, unreadable, onDirty);
  }
  const isCommitted = onDirty === 'commit' && (operation === 'merge' || (uncommitted ?? []).length > 0);
  if (isCommitted && head !== null && (operation === null || operation === 'merge'))
    return refuse('branch', `${headText(facts, head)}\n${switchText(facts, head)}`);
  if (operation === 'merge' && onDirty === 'commit') {
    if (unresolved.length === 0) return { kind: 'uncommitted' };
    return { ...refuse('conflict', describeUnresolved(unresolved), unresolved), operation };
  }
  if (operation !== null) {
    const reason = `A ${shown(operation)} is in progress in the worktree. Complete or abort it, then finish ${task} again.`;
    return { ...refuse('dirty', reason), operation };
  }
  if (uncommitted === null || uncommitted.length === 0) return undefined;
  if (onDirty === 'commit') return { kind: 'uncommitted' };
  const elsewhere = head === null ? '' : `\n${headText(facts, head)} ${switchText(facts, head)}`;
  const reason = `${uncommittedText(facts, uncommitted)}\nCommit what belongs to ${task}; discard the rest or add it to .gitignore.${elsewhere}`;
  return refusedDirty(reason, uncommitted, onDirty);
}

/** In the main checkout: what a person had there must still be there, uncommitted as it was. */
function refuseDisturbed({ task, inPlace }: FinishFacts): GateVerdict | undefined {
  if (inPlace === undefined) return undefined;
  const { disturbed, rescue, hasOld, from } = inPlace;
  if (!hasOld) {
    const reason = `HEAD of the main checkout no longer has the commit ${from}, on which the session of ${task} began.\nBring it back, with your commits on top: git rebase ${from}`;
    return refuse('branch', reason);
  }
  if (disturbed.length === 0) return undefined;
  const saved = rescue === null ? '' : ` Their content is in ${rescue}.`;
  const reason = `These files had uncommitted changes of a person before the session of ${task} began, and have none now:\n${listed(disturbed)}\nTake them out of your commits and restore them.${saved}`;
  return refuse('dirty', reason, disturbed);
}

/** A person reads its first line in lists, so a single file is named there. */
function uncommittedText({ inPlace }: FinishFacts, files: readonly string[]): string {
  const [first = ''] = files;
  const where = inPlace === undefined ? '' : ' in the main checkout';
  if (files.length === 1) return `1 uncommitted file${where}: ${shown(first)}`;
  return `${files.length} uncommitted files${where}:\n${listed(files)}`;
}

function refusedDirty(
  reason: string,
  files: readonly string[],
  onDirty: FinishRules['onDirty'],
): GateVerdict {
  const refused = refuse('dirty', reason, files);
  return onDirty === 'fail' ? { ...refused, isFinal: true, fails: true } : refused;
}

/** Commits of others are not submitted, and what is already on the target did not land through the queue. */
function refuseMisplaced(facts: FinishFacts): GateVerdict | undefined {
  const { head, task, target, commits, isPastQueue, saysNoChanges } = facts;
  if (isPastQueue) {
    const reason = [
      `${shown(target)} already has the commits of ${task}: it was moved to them directly, past the queue, its review and its checks.`,
      `Look at them: git log ${shown(target)}. Keep them: copse merge ${task}. Take them back: git revert, or move ${shown(target)} back.`,
    ].join('\n');
    return { ...refuse('branch', reason), isFinal: true };
  }
  if (head === null || (head.kind === 'elsewhere' && head.isMadeHere)) return undefined;
  if (saysNoChanges && commits.length === 0) return undefined;
  return refuse('branch', `${headText(facts, head)}\n${switchText(facts, head)}`);
}

/** Of work that was accepted although HEAD is not on its branch. */
function takenFromText(facts: FinishFacts, head: HeadFinding): string {
  if (head.kind === 'alias') return `${headText(facts, head)} Copse took the commits of that branch.`;
  const where = facts.inPlace ? 'The main checkout' : 'The worktree';
  const on = head.on === null ? 'has a detached HEAD' : `is on branch ${shown(head.on)}`;
  return `${where} ${on}, not on ${shown(facts.branch ?? '')}. Copse took the commits from ${head.on === null ? 'there' : shown(head.on)}.`;
}

function headText({ task, branch, inPlace }: FinishFacts, head: HeadFinding): string {
  const own = shown(branch ?? '');
  if (head.kind === 'alias')
    return `The branch ${own} of ${task} is a symbolic ref to another branch, so it has no commits of its own.`;
  const on = head.on === null ? 'detached' : `on ${shown(head.on)}`;
  if (inPlace) return `HEAD of the main checkout is ${on}, not on ${own}, where ${task} began.`;
  return `HEAD of the worktree is ${on}, not on ${own}, the branch of ${task}.`;
}

function switchText({ branch }: FinishFacts, head: HeadFinding): string {
  const own = shown(branch ?? '');
  return head.kind === 'alias'
    ? `Make it a branch again: git symbolic-ref --delete refs/heads/${own}, then git switch -c ${own}`
    : `Go there and bring your commits along: git switch ${own} (if it is gone: git switch -c ${own})`;
}

function refuseWithoutResult({ task, results, saysNoChanges }: FinishFacts): GateVerdict | undefined {
  if (!results || results.count > 0) return undefined;
  if (saysNoChanges) return { kind: 'passed', hasChanges: false, notes: [] };
  const { problems } = results;
  const why = problems.length === 0 ? [] : ['These could not be added:', listed(problems)];
  return refuse('no_artifact', [`${task} has no artifact: nothing shows its result.`, ...why].join('\n'));
}

function notImported({ task }: FinishFacts, files: readonly string[]): string {
  return `The branch of ${task} does not have the unchanged content of:\n${listed(files)}`;
}

function nothingCommitted({ task, target }: FinishFacts): string {
  return `Nothing was committed for ${task}: its branch has no commits beyond ${shown(target)}.`;
}

function gateAccept(
  { accept }: FinishFacts,
  { accept: commands }: FinishRules,
  notes: readonly string[],
): GateVerdict {
  if (commands.length === 0) return { kind: 'passed', hasChanges: true, notes };
  if (accept === undefined) return { kind: 'undecided', needs: 'accept' };
  if (accept === 'passed') return { kind: 'passed', hasChanges: true, notes };
  const { command, exitCode, tail } = accept;
  const ended = exitCode === null ? 'timed out' : `failed (exit code ${exitCode})`;
  const output = tail[0] === `$ ${command}` ? tail.slice(1) : tail;
  return refuse(
    'accept',
    // Its output begins with the command.
    [`Accept command ${ended}: ${command}`, ...output.map((line) => `  ${line}`)].join('\n'),
  );
}

function refuseConflict(
  { task, target }: FinishFacts,
  { conflicts, ...details }: NonNullable<FinishFacts['merge']>,
): GateVerdict {
  const reason = describeConflict({ task, target, files: conflicts, ...details, isAtFinish: true });
  return refuse(
    'conflict',
    reason,
    conflicts,
    details.with.map(({ task: other }) => other),
  );
}

function refuse(
  because: HandbackReason,
  reason: string,
  files: readonly string[] = [],
  others: readonly TaskId[] = [],
): Extract<GateVerdict, { kind: 'refused' }> {
  return { kind: 'refused', because, reason, isFinal: false, files, with: others };
}

const CONVENTIONAL = /^[a-z]+(?:\([^()]+\))?!?: \S/;
/** Subjects that git itself writes. */
const BY_GIT = /^(?:Revert "|Merge |fixup! |squash! |amend! )/;

function isConventional(subject: string): boolean {
  return CONVENTIONAL.test(subject) || BY_GIT.test(subject);
}

function badMessages(commits: readonly CommitFacts[]): string {
  const lines = listed(commits.map(({ id, subject }) => `${id.slice(0, 8)} ${subject}`));
  return [
    'These commit messages break the convention (type(scope): subject, for example "fix(auth): refuse empty tokens"):',
    lines,
  ].join('\n');
}
