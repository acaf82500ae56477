/** Finds a tip from git's files: to start a git that answers takes a command longer than all of its questions. */

import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type CommitId, brand } from '../../kernel/ids.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { readLoose } from '../objects.ts';
import type { TrustedDir } from '../process.ts';

/**
 * Of a commit's id or a full ref name, where files tell; undefined when git has to be asked. The commit is read, too: a ref
 * may name a commit that is missing.
 */
export function tipByFiles(
  dir: Pick<TrustedDir, 'commonDir' | 'objectFormat'>,
  name: string,
): CommitId | undefined {
  const id = COMMIT.test(name) ? name : looseTip(dir.commonDir, name);
  if (id === undefined || !COMMIT.test(id)) return undefined;
  const found = readLoose(dir, [path.join(dir.commonDir, 'objects')], id);
  return found?.type === 'commit' ? brand(id) : undefined;
}

/** Names that git might refuse, links, and refs of another format are left to git. */
function looseTip(commonDir: string, ref: string): string | undefined {
  if (!/^refs\/(heads|remotes)\//.test(ref) || /\.\.|\/\.|\/\/|\/$|\.lock(\/|$)/.test(ref)) return undefined;
  return readIfPlain(path.join(commonDir, ref), { mostBytes: MOST_REF_BYTES })?.trimEnd();
}

const MOST_REF_BYTES = defaultPolicy.looseRefBytes;

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
