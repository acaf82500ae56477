/**
 * What an import task brings into the repository: where its agent finds the files, and whether its commits have them.
 *
 * A file counts as imported if a file of the branch has its content, whatever it is called there. Git may store text with other
 * line ends, and Git LFS stores a pointer: both count.
 */

import type { CommitId } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import { type Artifact, isAddedResult } from '../../tasks/rules/ledger.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { machineText } from '../act/artifacts.ts';
import type { BoardReader } from '../../board/port.ts';
import type { Workspace } from '../../workspaces/rules/workspace.ts';
import type { RunContext } from '../../queue/context.ts';
import type { BriefedImport } from '../rules/briefing/briefing.ts';
import type { ContextFiles } from '../ports/runners.ts';

/** Empty unless the task is an import. */
async function loadImports(board: BoardReader, { from }: Pick<Task, 'from'>): Promise<readonly Artifact[]> {
  if (from === undefined) return [];
  const all = await board.list('artifact', { task: from.task });
  return all.filter((one) => (from.artifact === null ? isAddedResult(one) : one.id === from.artifact));
}

export type PlacedImports =
  | { readonly kind: 'placed'; readonly imports: readonly BriefedImport[] }
  /** It cannot be done here, until a person acts. */
  | { readonly kind: 'impossible'; readonly reason: string };

/** Copies the files into the worktree, where git ignores them; without a worktree, beside the report. */
export async function placeImports(
  context: Pick<RunContext, 'board' | 'artifacts' | 'node'> & { readonly contextFiles: ContextFiles },
  task: Pick<Task, 'id' | 'from'>,
  { strategy, folder }: { readonly strategy: Workspace['strategy']; readonly folder: string },
): Promise<PlacedImports> {
  if (task.from === undefined) return { kind: 'placed', imports: [] };
  if (strategy === 'none')
    return impossible(
      `${task.id} is an import, and its agent has no worktree to commit in (workspace.strategy: none).`,
    );
  const wanted = await loadImports(context.board, task);
  if (wanted.length === 0)
    return impossible(
      `${task.from.task} has no artifact to import. Look: copse artifact list ${task.from.task}`,
    );
  const imports: BriefedImport[] = [];
  for (const one of wanted) {
    const { id, title, content } = one;
    if (content === undefined) {
      imports.push({ kind: 'uri', id, uri: one.address, title });
      continue;
    }
    const read = context.artifacts.read(one.task, one);
    if (read.kind !== 'read') return impossible(await machineText(context, one, read.kind));
    const inside = await context.contextFiles.place(folder, `${id}/${content.name}`, read.content);
    const file = strategy === 'static' ? `${folder}/${inside}` : inside;
    imports.push({ kind: 'file', id, file, name: content.name, bytes: content.bytes, title });
  }
  return { kind: 'placed', imports };
}

function impossible(reason: string): PlacedImports {
  return { kind: 'impossible', reason };
}

/** One line for each file that is not in the commit. */
export async function findUnimported(
  { board, artifacts, git, node }: Pick<RunContext, 'board' | 'artifacts' | 'git' | 'node'>,
  task: Task,
  head: CommitId,
): Promise<readonly string[]> {
  const files = (await loadImports(board, task)).filter(({ content }) => content !== undefined);
  if (files.length === 0) return [];
  const present = new Set((await git.files(head)).map(({ id }) => id));
  const missing: string[] = [];
  for (const one of files) {
    const read = artifacts.read(one.task, one);
    if (read.kind !== 'read') {
      missing.push(await machineText({ board, node }, one, read.kind));
      continue;
    }
    const ids = artifacts.blobIds(read.content, head.length);
    if (!ids.some((id) => present.has(id))) missing.push(`${shown(one.content?.name ?? '')} (${one.id})`);
  }
  return missing;
}
