/**
 * What git noted in reflogs: which commits and which branches were made in a worktree.
 *
 * Agents can write these files. Copse reads them to tell an agent's own commits and branches from those of others; nothing that
 * they say lets an agent submit or lose what it could not submit or lose anyway.
 */

import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import { readPlainFile } from '../../kernel/system/plain-file.ts';
import { isValidBranchName } from '../../workspaces/rules/naming.ts';
import { headOf } from '../refs/head.ts';

const MOST_BYTES = defaultPolicy.worktreeFiles.reflogBytes;

interface ReflogEntry {
  readonly from: string;
  readonly to: string;
  readonly atMs: number;
  readonly message: string;
}

const LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*> (\d+) [+-]\d{4}(?:\t(.*))?$/;

function readReflog(file: string): readonly ReflogEntry[] {
  const found = readPlainFile(file, MOST_BYTES);
  if (found.kind !== 'plain' || found.value.isCut) return [];
  return found.value.text.split('\n').flatMap((line) => {
    const [, from, to, seconds, message = ''] = LINE.exec(line) ?? [];
    return from === undefined || to === undefined
      ? []
      : [{ from, to, atMs: Number(seconds) * 1_000, message }];
  });
}

/** Messages of git about a new commit; the others are about commits that existed. */
const MADE =
  /^(?:(?:commit|cherry-pick|revert|am)\b|(?:rebase|pull)\b[^:]*\((?:pick|reword|edit|squash|fixup|continue|merge)\)|(?:merge|pull)\b.*: Merge made)/;

export function isMadeIn(gitDir: string, commit: CommitId): boolean {
  return readReflog(path.join(gitDir, 'logs', 'HEAD')).some(
    ({ to, message }) => to === commit && MADE.test(message),
  );
}

export interface Since {
  /** When the worktree was made. */
  readonly sinceMs: number;
  /** The message with which the worktree's first branch was made. */
  readonly first: string;
}

/**
 * Branches that were made in a worktree: git noted their beginning and their checkout there in the same second, after the
 * worktree was made; or they are its first branch under a new name. A branch made elsewhere fits only by a forged reflog.
 */
export function branchesMadeIn(
  commonDir: string,
  gitDir: string,
  { sinceMs, first }: Since,
): readonly BranchName[] {
  const log = readReflog(path.join(gitDir, 'logs', 'HEAD'));
  const { branch: current } = headOf(gitDir);
  const visits = log.flatMap(({ message, to, atMs }) => {
    const [, name] =
      /^checkout: moving from \S+ to (\S+)$/.exec(message) ??
      /^Branch: renamed \S+ to refs\/heads\/(\S+)$/.exec(message) ??
      [];
    return name === undefined ? [] : [{ name, to, atMs }];
  });
  const names = new Set([...visits.map(({ name }) => name), ...(current === null ? [] : [current])]);
  return [...names]
    .filter((name) => isValidBranchName(name))
    .slice(0, MOST_BRANCHES)
    .map((name) => brand<BranchName>(name))
    .filter((name) => {
      const [begun] = readReflog(path.join(commonDir, 'logs', 'refs', 'heads', name));
      if (begun === undefined || !/^0+$/.test(begun.from)) return false;
      if (begun.message === first) return true;
      return (
        begun.atMs >= sinceMs &&
        visits.some((visit) => visit.name === name && visit.to === begun.to && visit.atMs === begun.atMs)
      );
    });
}

/** The message with which a branch was made, whatever it was called then; undefined if git noted no beginning. */
export function beginningOf(commonDir: string, branch: string): string | undefined {
  const [begun] = readReflog(path.join(commonDir, 'logs', 'refs', 'heads', branch));
  return begun !== undefined && /^0+$/.test(begun.from) ? begun.message : undefined;
}

const MOST_BRANCHES = defaultPolicy.worktreeFiles.reflogBranches;
