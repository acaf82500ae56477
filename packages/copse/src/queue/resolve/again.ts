/**
 * What commands wrote into generated files, kept by what it was made from: candidates of the same branch are built on top of
 * many a guess, and most of those change nothing that matters here.
 *
 * All versions of the generated files count, what the branch changes besides, as it is merged, and the commands. What else is
 * on the target does not: a target that changes what a file is generated from changes that file as well. Only what succeeded
 * is kept. An entry that is not what its name says is as good as none.
 */

import { createHash } from 'node:crypto';
import path from 'node:path';

import type { CommitId } from '../../kernel/ids.ts';
import { entries } from '../../git/output.ts';
import { git, type TrustedDir } from '../../git/process.ts';
import type { GenerateRequest, Generated } from './generated.ts';
import { findEntries, forgetEntries, putEntry, touchEntry } from './store.ts';
import { readRegular } from '../../git/worktrees/place.ts';

type Written = Extract<Generated, { resolved: true }>;

export interface GeneratedLimits {
  /** How many conflicts. */
  readonly generated: number;
  /** Of the files of one. */
  readonly generatedBytes: number;
  readonly ageMs: number;
}

export async function generatedKey(
  dir: TrustedDir,
  onto: CommitId,
  { tree, env, resolved, conflicts, commands }: GenerateRequest,
): Promise<string> {
  const known = new Set([...conflicts, ...resolved].map(({ file }) => file));
  const argv = ['diff-tree', '-r', '-z', '--no-renames', '--raw', `${onto}^{tree}`, tree];
  const raw = entries(await git(dir, argv, { env }));
  const changed: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [fields = '', file = ''] = raw.slice(at, at + 2);
    const [, mode, , id] = fields.split(' ');
    if (!known.has(file)) changed.push(`${mode} ${id} ${file}`);
  }
  const sides = conflicts.map(({ file, mode, base, ours, theirs }) => [file, mode, base, ours, theirs]);
  return hash(JSON.stringify([[...commands], sides, resolved, changed]));
}

export function recallGenerated(dir: TrustedDir, key: string, nowMs: number): Written | undefined {
  for (const place of findEntries(storeOf(dir), `${key}.`)) {
    const text = readRegular(path.join(place, RESULT))?.toString('latin1');
    if (text === undefined || !place.endsWith(`.${hash(text)}`)) continue;
    touchEntry(place, nowMs);
    return JSON.parse(text) as Written;
  }
  return undefined;
}

export function keepGenerated(
  dir: TrustedDir,
  key: string,
  written: Written,
  { generated: most, generatedBytes, ageMs }: GeneratedLimits,
  nowMs: number,
): void {
  const text = JSON.stringify(written);
  if (text.length > generatedBytes) return;
  putEntry(path.join(storeOf(dir), `${key}.${hash(text)}`), { [RESULT]: text }, nowMs);
  forgetEntries(storeOf(dir), { most, ageMs }, nowMs);
}

const RESULT = 'result.json';

function storeOf({ home }: TrustedDir): string {
  return path.join(home, '.copse', 'generated');
}

function hash(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 32);
}
