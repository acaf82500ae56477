/** Changed and ignored files, in words. */

import { counted, shownPath } from '../kernel/text.ts';
import type { ChangedFile, Diff } from '../workspaces/ports/worktrees.ts';

export function fileLines(files: readonly ChangedFile[]): readonly string[] {
  return files.map(({ path, from, change, lines }) => {
    const counts = lines === null ? 'binary' : `+${lines.inserted} -${lines.deleted}`;
    const name = from === null ? shownPath(path) : `${shownPath(from)} → ${shownPath(path)}`;
    return `${change.padEnd('type_changed'.length)}  ${counts.padEnd(12)}  ${name}`;
  });
}

export function sizeText({ files, inserted, deleted }: Omit<Diff, 'patch'>): string {
  return `${counted(files.length, 'file')}, +${inserted} -${deleted}`;
}

interface IgnoredFiles {
  readonly count: number;
  readonly first: readonly string[];
}

/** Undefined when git ignores no file there. */
export function ignoredText(ignored: IgnoredFiles | undefined): string | undefined {
  if (ignored === undefined) return 'files that git ignores, which could not be listed';
  const { count, first } = ignored;
  if (count === 0) return undefined;
  const names = first.map(shownPath).join(', ');
  return count > first.length ? `${names} and ${count - first.length} more` : names;
}
