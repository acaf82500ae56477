/** Which objects the repository does not have. */

import { existsSync, utimesSync } from 'node:fs';
import path from 'node:path';

import { hasCode } from '../../../kernel/system/error-code.ts';
import { type TrustedDir, git } from '../../process.ts';
import { fileOf } from '../put.ts';
import { readVerified } from './verified.ts';

/** Most new objects are not packed, so git is asked about few. */
export async function lackingIn(dir: TrustedDir, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const objects = path.join(dir.commonDir, 'objects');
  return lackingInPacks(
    dir,
    ids.filter((id) => !existsSync(fileOf(objects, id))),
  );
}

/**
 * For a caller that deletes the only other copy. A file that a power failure damaged counts as lacking, and one that `git gc`
 * would delete for its age is made new.
 */
export async function unsoundIn(dir: TrustedDir, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const objects = path.join(dir.commonDir, 'objects');
  const [unsound, notLoose]: [string[], string[]] = [[], []];
  for (const id of ids) {
    const found = freshen(dir, fileOf(objects, id), id);
    if (found === 'gone') notLoose.push(id);
    if (found === 'damaged') unsound.push(id);
  }
  return new Set([...unsound, ...(await lackingInPacks(dir, notLoose))]);
}

function freshen(dir: TrustedDir, file: string, id: string): 'sound' | 'gone' | 'damaged' {
  const { kind } = readVerified(dir, file, id);
  if (kind === 'gone' || kind === 'damaged') return kind;
  const now = new Date();
  try {
    utimesSync(file, now, now);
    return 'sound';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'gone';
    // The file of another user: a copy of it is new.
    if (hasCode(error, 'EPERM', 'EACCES')) return 'damaged';
    throw error;
  }
}

async function lackingInPacks(dir: TrustedDir, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const input = ids.map((id) => `${id}\n`).join('');
  const argv = ['cat-file', '--batch-check=%(objectname)', '--buffer'];
  const lines = (await git(dir, argv, { input })).toString('latin1').split('\n');
  return new Set(
    lines.flatMap((line) => (line.endsWith(' missing') ? [line.slice(0, -' missing'.length)] : [])),
  );
}
