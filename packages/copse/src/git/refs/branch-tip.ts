/** Reads a branch's tip from git's files, for commands in which starting git would cost more than all the rest. */

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';

import { type CommitId, brand } from '../../kernel/ids.ts';
import type { TipOf } from '../../radar/rules/radar.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { readIfThere } from '../../kernel/system/plain-file.ts';

export function openBranchTips(commonDir: string): TipOf {
  const tipOf = openTips(commonDir);
  return (branch) => tipOf(`refs/heads/${branch}`);
}

/** Null when the files do not tell: a symbolic ref, or another ref format. */
export function openTips(commonDir: string): (ref: string) => CommitId | null | undefined {
  const packed = packedRefs(path.join(commonDir, 'packed-refs'));
  return (ref) => {
    if (existsSync(path.join(commonDir, 'reftable'))) return null;
    const loose = read(path.join(commonDir, ref));
    if (loose === undefined) return packed().get(ref);
    const text = loose?.trimEnd() ?? '';
    return COMMIT.test(text) ? brand<CommitId>(text) : null;
  };
}

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** Undefined when it is absent, null when it cannot be read. */
function read(file: string): string | undefined | null {
  try {
    // A folder of the same name holds other refs.
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    return readIfThere(file, { mostBytes: defaultPolicy.files.packedRefsBytes, isFollowing: true });
  } catch {
    return null;
  }
}

/** Read again when the file changed. */
function packedRefs(file: string): () => ReadonlyMap<string, CommitId> {
  let known: { readonly stamp: string; readonly refs: ReadonlyMap<string, CommitId> } | undefined;
  return () => {
    const found = statSync(file, { throwIfNoEntry: false });
    const stamp = `${found?.mtimeMs} ${found?.size} ${found?.ino}`;
    if (known?.stamp !== stamp) known = { stamp, refs: parseRefs(read(file) ?? '') };
    return known.refs;
  };
}

function parseRefs(text: string): ReadonlyMap<string, CommitId> {
  const refs = new Map<string, CommitId>();
  for (const line of text.split('\n')) {
    const [id = '', ref] = line.split(' ', 2);
    if (ref !== undefined && COMMIT.test(id)) refs.set(ref, brand(id));
  }
  return refs;
}
