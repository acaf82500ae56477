/** How a difference looks: on a terminal nothing that it would obey. */

import { shown } from '../../kernel/text.ts';
import type { ChangedFile, Diff } from '../../workspaces/ports/worktrees.ts';
import type { Output } from '../output.ts';

/** Byte for byte into a file or a pipe. */
export function patchForReader(patch: Buffer, output: Output): string | Buffer {
  return output.isTerminal ? shown(patch.toString()) : patch;
}

export function fileLines(files: readonly ChangedFile[]): readonly string[] {
  return files.map(({ path, from, change, lines }) => {
    const counts = lines === null ? 'binary' : `+${lines.inserted} -${lines.deleted}`;
    const name = from === null ? shown(path) : `${shown(from)} → ${shown(path)}`;
    return `${change.padEnd('type_changed'.length)}  ${counts.padEnd(12)}  ${name}`;
  });
}

export function sizeText({ files, inserted, deleted }: Omit<Diff, 'patch'>): string {
  return `${files.length} ${files.length === 1 ? 'file' : 'files'}, +${inserted} -${deleted}`;
}
