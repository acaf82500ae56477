/**
 * The commits of branches that Copse deleted or moved back, under `refs/copse/keep/<task>/<time>-<commit>`. Only
 * commits that no branch, tag, remote or rescue reaches are listed. Agents can write refs, so refs with other names are
 * ignored.
 */

import { type BranchName, type CommitId, brand, parseTaskId, timestamp } from '../../../kernel/ids.ts';
import type { KeepRef } from '../../ports/leftovers.ts';
import type { KeptTip } from '../../../git/port.ts';
import { git, type TrustedDir } from '../../../git/process.ts';
import { RESCUE_REFS } from './snapshot-commits.ts';

const KEEP_REFS = 'refs/copse/keep';

/** Oldest first; of several that keep the same commit of a task, the latest. */
export async function listKeptTips(dir: TrustedDir): Promise<readonly KeptTip[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(objecttype)%00%(contents:subject)';
  const output = await git(dir, ['for-each-ref', format, `${KEEP_REFS}/`]);
  const all = output
    .toString()
    .split('\n')
    .flatMap((line) => parse(line.split('\0')) ?? [])
    .toSorted((one, other) => one.at - other.at);
  const latest = new Map(all.map((tip) => [`${tip.task} ${tip.commit}`, tip]));
  const lost = await commitsOnlyHere(dir, [...latest.values()]);
  return [...latest.values()].filter(({ commit }) => lost.has(commit));
}

function parse([ref = '', commit = '', type, subject = '']: readonly string[]): KeptTip | undefined {
  const [, id = '', at = ''] = NAMED.exec(ref) ?? [];
  const task = parseTaskId(id);
  if (type !== 'commit' || task === undefined || !Number.isSafeInteger(Number(at))) return undefined;
  return { ref, commit: brand<CommitId>(commit), task, at: timestamp(Number(at)), subject };
}

const NAMED = new RegExp(`^${KEEP_REFS}/([^/]+)/(\\d+)-[0-9a-f]+$`);

async function commitsOnlyHere(dir: TrustedDir, tips: readonly KeptTip[]): Promise<ReadonlySet<string>> {
  if (tips.length === 0) return new Set();
  const elsewhere = ['--branches', '--tags', '--remotes', `--glob=${RESCUE_REFS}/*`];
  const input = tips.map(({ commit }) => `${commit}\n`).join('');
  const output = await git(dir, ['rev-list', '--stdin', '--not', ...elsewhere], { input });
  return new Set(output.toString().split('\n'));
}

/** All of them, oldest first; also those whose commits are elsewhere too. */
export async function listKeepRefs(dir: TrustedDir, branch: BranchName): Promise<readonly KeepRef[]> {
  const merged = new Set((await keptWhere(dir, [`--merged=refs/heads/${branch}`])).map(({ ref }) => ref));
  const all = await keptWhere(dir, []);
  return all
    .toSorted((one, other) => one.at - other.at)
    .map(({ ref, commit, task }) => ({ ref, commit, task, isMerged: merged.has(ref) }));
}

async function keptWhere(dir: TrustedDir, options: readonly string[]): Promise<readonly KeptTip[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(objecttype)%00';
  const output = await git(dir, ['for-each-ref', format, ...options, `${KEEP_REFS}/`]);
  return output
    .toString()
    .split('\n')
    .flatMap((line) => parse(line.split('\0')) ?? []);
}

/** A ref that has moved meanwhile stays, and with it all others: git changes all of them or none. */
export async function dropKeptTips(dir: TrustedDir, refs: readonly KeepRef[]): Promise<void> {
  if (refs.length === 0) return;
  const input = refs.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`).join('');
  await git(dir, ['update-ref', '-z', '--stdin'], { input });
}
