/** Loads a conflict for the agent or person that resolves it: both sides, the tasks on the other side, and what was tried. */

import {
  type ConflictDetails,
  type OtherSide,
  describeConflict,
} from '../../agents/rules/finish/conflict.ts';
import { type BranchName, type TaskId, parseTaskId } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { HandbackCause } from '../../tasks/rules/outcomes.ts';
import type { Ends } from '../ports/merging.ts';
import type { RunContext } from '../context.ts';

export async function causeOfConflict(
  context: RunContext,
  { task, target }: { readonly task: TaskId; readonly target: BranchName },
  ends: Ends,
  files: readonly string[],
): Promise<HandbackCause> {
  const details = await loadConflict(context, ends, files);
  const reason = describeConflict({ task, target, files, ...details });
  return { because: 'conflict', reason, files, with: details.with.map(({ task: other }) => other) };
}

export async function loadConflict(
  context: RunContext,
  ends: Ends,
  files: readonly string[],
): Promise<ConflictDetails> {
  const { merging, resolving, policy } = context;
  const { hunkFiles, hunksLength, triedLength } = policy.conflict;
  const shownFiles = Math.max(1, Math.min(files.length, hunkFiles));
  const limits = { files: shownFiles, bytesPerFile: Math.floor(hunksLength / shownFiles) };
  return {
    with: await loadOtherSide(context, ends, files),
    hunks: await merging.conflicts(ends.onto, ends.head, limits),
    tried: resolving.tried(ends).map((text) => text.slice(-triedLength)),
  };
}

const COMMITS_PER_TASK = 10;

/** The tasks whose landed commits changed these files. */
async function loadOtherSide(
  { resolving, board, policy }: RunContext,
  ends: Ends,
  files: readonly string[],
): Promise<readonly OtherSide[]> {
  const { others: most } = policy.conflict;
  const subjects = new Map<TaskId, string[]>();
  for (const { subject, body } of await resolving.otherSide(ends, files, most * COMMITS_PER_TASK)) {
    for (const [, id = ''] of body.matchAll(/^Task: *(\S+) *$/gm)) {
      const known = parseTaskId(id);
      if (known !== undefined) subjects.set(known, [...(subjects.get(known) ?? []), subject]);
    }
  }
  const others: OtherSide[] = [];
  for (const [id, did] of [...subjects].slice(0, most)) {
    const task = await board.get('task', id);
    if (task === undefined) continue;
    const intent = await intentOf({ board, policy }, task, did);
    others.push({ task: id, title: task.title, intent });
  }
  return others;
}

/** The first lines of its body, its recorded decisions, and its commits to these files. */
async function intentOf(
  { board, policy }: Pick<RunContext, 'board' | 'policy'>,
  { id, body }: Task,
  did: readonly string[],
): Promise<readonly string[]> {
  const { intentLines, intentLength } = policy.conflict;
  const entries = await board.list('ledger', { task: id });
  const asked = body.split('\n').filter((line) => line.trim() !== '');
  const decisions = entries.flatMap(({ kind, text }) => (kind === 'decision' ? [`decided: ${text}`] : []));
  const lines = [
    ...asked.slice(0, intentLines),
    ...decisions.slice(-intentLines),
    ...did.slice(0, intentLines).map((subject) => `committed: ${subject}`),
  ];
  return withinLength(lines, intentLength);
}

function withinLength(lines: readonly string[], length: number): readonly string[] {
  const kept: string[] = [];
  let left = length;
  for (const line of lines) {
    if (left <= 0) break;
    kept.push(line.length > left ? `${line.slice(0, left)}…` : line);
    left -= line.length;
  }
  return kept;
}
