/** Looks for a file in the base branch without starting git: commands that only look would wait for it longer than for all else. */

import { FOLDER, type NamedEntry, entryAt, readLoose } from '../objects.ts';
import type { TrustedDir } from '../process.ts';
import { baseByFiles } from './base-by-files.ts';
import { tipByFiles } from './tip-by-files.ts';

/** `file`: relative, with `/`. Null when git's files do not tell; then the caller asks git. */
export function baseHasFile(dir: TrustedDir, file: string): boolean | null {
  const base = baseByFiles(dir);
  const tip = base === null ? undefined : tipByFiles(dir, `refs/heads/${base}`);
  if (tip === undefined) return null;
  const commit = read(dir, tip, 'commit');
  let tree = commit && /^tree ([0-9a-f]{40,64})\n/.exec(commit.toString('latin1', 0, HEAD_BYTES))?.[1];
  const parts = file.split('/');
  for (const [at, part] of parts.entries()) {
    const entries = tree === undefined ? undefined : read(dir, tree, 'tree');
    if (entries === undefined) return null;
    const entry = entryOf(entries, part, dir.objectFormat === 'sha1' ? 20 : 32);
    if (entry === undefined) return false;
    const isFolder = entry.mode === FOLDER;
    if (at === parts.length - 1) return !isFolder;
    if (!isFolder) return false;
    tree = entry.id;
  }
  return false;
}

const HEAD_BYTES = 80;

function read(dir: TrustedDir, id: string, type: 'commit' | 'tree'): Buffer | undefined {
  const found = readLoose(dir, [`${dir.commonDir}/objects`], id);
  return found?.type === type ? found.content : undefined;
}

function entryOf(tree: Buffer, name: string, idBytes: number): NamedEntry | undefined {
  const bytes = Buffer.from(name).toString('latin1');
  let entry = entryAt(tree, 0, idBytes);
  while (entry !== undefined && entry.name !== bytes) entry = entryAt(tree, entry.end, idBytes);
  return entry;
}
