/**
 * Everything that an agent is told about a conflict:
 *
 *   describeConflict       why the gate or the queue hands its branch back: the files, both sides, what was tried
 *   CONFLICT_ADVICE        what to do then (`copse sync --conflict`), in prompts and in AGENT_CONTEXT.md
 *   MERGED_ADVICE          the same for an agent that cannot commit: Copse has merged, and the files have markers
 *   describeUnresolved     markers are still in the files
 *   describeResolverTask   the body of a task that resolves another task's conflict (`on_conflict: task`)
 *   describeMissingWork    that task wants to finish, and its branch lacks the other task's commits
 *
 * Texts of people and other agents are marked line by line, so that none passes for Copse's words.
 */

import type { CommitId, TaskId } from '../../../kernel/ids.ts';
import { listed, shown } from '../../../kernel/text.ts';

/** A task on the other side of a conflict: it landed first. */
export interface OtherSide {
  readonly task: TaskId;
  readonly title: string;
  /** Its purpose: lines of its body, its decisions, the subjects of its commits. */
  readonly intent: readonly string[];
}

export interface ConflictDetails {
  readonly with: readonly OtherSide[];
  readonly hunks: readonly { readonly file: string; readonly kind: string; readonly hunks: string | null }[];
  /** Output of the merge drivers and recorded resolutions that failed. */
  readonly tried: readonly string[];
}

export const CONFLICT_TITLE = 'it conflicts with what landed meanwhile';

export const CONFLICT_ADVICE =
  'Merge the target with `copse sync --conflict` (inside a sandbox: `git merge`). Keep the intent of both sides. Run the tests, and commit.';

export const MERGED_ADVICE =
  'Copse merged the target into your worktree, and these files now have conflict markers. Keep the intent of both sides and remove the markers. Copse commits for you.';

/** The most important comes first, because the end may be cut off. */
export function describeConflict(
  conflict: ConflictDetails & {
    readonly task: TaskId;
    readonly target: string;
    readonly files: readonly string[];
    /** The agent still works, and gets no other advice. */
    readonly isAtFinish?: boolean;
  },
): string {
  const { task, target, files, with: others, isAtFinish } = conflict;
  const both = others.length > 0 ? ' Keep the intent of both sides.' : '';
  const advice = `Merge ${shown(target)} with \`copse sync ${task} --conflict\`, resolve the conflict, commit, and run \`copse finish ${task}\` again.${both}`;
  return [
    `The branch of ${task} conflicts with ${shown(target)}:`,
    listed(files),
    // After the queue, a person may read it; an agent gets CONFLICT_ADVICE with its prompt.
    ...(isAtFinish ? [advice] : []),
    ...describeSides(conflict),
  ].join('\n');
}

function describeSides({
  target,
  with: others,
  hunks,
  tried,
}: ConflictDetails & { readonly target: string }): readonly string[] {
  const marked = (mark: string, text: string) =>
    shown(text.replace(/\n+$/, ''))
      .split('\n')
      .map((line) => `    ${mark} ${line}`);
  const sides = others.flatMap(({ task, title, intent }) => [
    `  ${task}: ${shown(title)}`,
    ...intent.flatMap((text) => marked('>', text)),
  ]);
  const places = hunks.flatMap(({ file, kind, hunks: text }) => [
    `  ${shown(file)} (${kind})`,
    ...(text === null ? [] : marked('|', text)),
  ]);
  return [
    ...(sides.length > 0 ? [`Landed on ${shown(target)} meanwhile:`, ...sides] : []),
    ...(places.length > 0
      ? [`Conflicting lines, first those of ${shown(target)}, then those of the branch:`, ...places]
      : []),
    ...(tried.length > 0 ? ['Tried without success:', ...tried.flatMap((text) => marked('|', text))] : []),
  ];
}

export function describeUnresolved(files: readonly string[]): string {
  return `These files still have conflict markers:\n${listed(files)}\nKeep the intent of both sides, and remove the markers.`;
}

/** The other task's commits, which the branch of a resolving task must contain. */
export interface MissingWork {
  readonly task: TaskId;
  readonly ref: string;
  /** False when the commits are on another machine. */
  readonly isHere: boolean;
}

export function describeMissingWork({ task, ref, isHere }: MissingWork): string {
  const lacking = `The branch does not contain the work of ${task}, whose conflict it resolves.`;
  if (isHere) return `${lacking} Merge it: git merge ${ref}`;
  return `${lacking} That work is not on this machine: the task's text says how a person brings it here. Without it, run copse stuck.`;
}

export interface ResolverFacts {
  readonly original: { readonly id: TaskId; readonly title: string; readonly body: string };
  readonly target: string;
  /** Keeps the conflicting commits. */
  readonly ref: string;
  readonly head: CommitId;
  /** The machine that has them. */
  readonly node: string;
  readonly reason: string;
}

export function describeResolverTask({ original, target, ref, head, node, reason }: ResolverFacts): string {
  return [
    `${original.id} is finished and conflicts with ${target}. Merge the two:`,
    '',
    `1. git merge ${ref}`,
    '2. Resolve the conflicts. Keep the intent of both sides, and change nothing else.',
    '3. Run the tests, commit the merge, and finish.',
    '',
    `If git does not know this ref, this is another machine: the commit ${head} is on ${node}. A person brings it here,`,
    `there with: git push <remote> ${ref}`,
    `and here with: git fetch <remote> ${ref}:${ref}`,
    'Never write a replacement for it: if you cannot get it, run copse stuck.',
    '',
    `Do not rebase or squash: the commits of ${original.id} must stay as they are. When this lands, ${original.id} has landed.`,
    '',
    `The task ${original.id}:`,
    '',
    ...quote(`${original.title}\n\n${original.body}`),
    '',
    'The conflict:',
    '',
    ...quote(reason),
    '',
  ].join('\n');
}

function quote(text: string): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd());
}
