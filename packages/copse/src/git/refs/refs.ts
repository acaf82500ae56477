/** Reads refs, and moves them by compare-and-swap. */

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import type { RefMove, TrackedFile } from '../port.ts';
import { acceptedHead } from '../accepted/record.ts';
import { outliveLock } from '../dead-locks.ts';
import { ObjectMissing, commitsOf, isReachable, objectsOf, knownObjectsOf } from '../objects.ts';
import { GitFailed, type GitResult, git, gitLine, tryGit, type TrustedDir } from '../process.ts';
import { tipByFiles } from './tip-by-files.ts';

export async function findTip(dir: TrustedDir, ref: string): Promise<CommitId | undefined> {
  const known = tipByFiles(dir, ref);
  if (known !== undefined) return known;
  const [found] = await objectsOf(dir).check([`${ref}^{commit}`]);
  return found && brand(found.id);
}

export async function isAncestor(dir: TrustedDir, ancestor: CommitId, of: CommitId): Promise<boolean> {
  if (ancestor === of) return true;
  try {
    const known = await isReachable(knownObjectsOf(dir), ancestor, of);
    if (known !== undefined) return known;
  } catch (error) {
    // A commit that this clone lacks, made on another machine, is no ancestor of one whose history is here.
    if (error instanceof ObjectMissing && (await isOnlyElsewhere(dir, ancestor, of))) return false;
    throw error;
  }
  const argv = ['merge-base', '--is-ancestor', ancestor, of];
  const { code, stderr } = await tryGit(dir, argv);
  if (code <= 1) return code === 0;
  throw new GitFailed(argv, code, stderr);
}

async function isOnlyElsewhere(dir: TrustedDir, commit: CommitId, here: CommitId): Promise<boolean> {
  const has = async (one: CommitId) => (await tryGit(dir, ['cat-file', '-e', `${one}^{commit}`])).code === 0;
  return !(await has(commit)) && (await has(here));
}

export async function mergeBase(
  dir: TrustedDir,
  one: CommitId,
  other: CommitId,
): Promise<CommitId | undefined> {
  if (one === other) return one;
  const { code, stdout } = await tryGit(dir, ['merge-base', one, other]);
  return code === 0 ? brand(stdout.toString().trimEnd()) : undefined;
}

export async function countCommits(dir: TrustedDir, notFrom: CommitId, from: CommitId): Promise<number> {
  if (notFrom === from) return 0;
  const known = await commitsOf(knownObjectsOf(dir), from, notFrom);
  if (known !== undefined) return known.length;
  return Number(await gitLine(dir, ['rev-list', '--count', from, `^${notFrom}`]));
}

/** Never through a symbolic ref: an agent could make one branch an alias of another. */
export async function moveRef(
  dir: TrustedDir,
  move: {
    readonly ref: string;
    readonly from: CommitId | null;
    readonly to: CommitId | null;
    readonly reason: string;
    /** Waits for a lock, and removes it once it is stale. */
    readonly isPatient?: boolean;
  },
): Promise<RefMove> {
  const { ref, from, to, reason } = move;
  const nothing = '0'.repeat(dir.objectFormat === 'sha256' ? 64 : 40);
  const argv =
    to === null
      ? ['update-ref', '-m', reason, '-d', ref, from ?? nothing]
      : ['update-ref', '-m', reason, ref, to, from ?? nothing];
  const { code, stderr } = await (move.isPatient ? updateRef : tryGit)(dir, argv);
  if (code === 0) return { kind: 'moved' };
  const tip = (await findTip(dir, ref)) ?? null;
  if (/\.lock': File exists/.test(stderr)) return { kind: 'not_moved', because: 'locked', tip };
  if (tip !== from || /reference already exists|but expected|is at/.test(stderr)) {
    return { kind: 'not_moved', because: 'changed', tip };
  }
  throw new GitFailed(argv, code, stderr);
}

/** Whether a branch is a symbolic ref to another one. Agents can make such aliases. */
export async function isAlias(dir: TrustedDir, branch: BranchName): Promise<boolean> {
  return (await tryGit(dir, ['symbolic-ref', '--quiet', `refs/heads/${branch}`])).code === 0;
}

/** Waits for a ref's lock, and removes it once it is stale. */
export async function updateRef(dir: TrustedDir, argv: readonly string[]): Promise<GitResult> {
  for (;;) {
    const result = await tryGit(dir, argv);
    const [, lock] = /Unable to create '([^']+\.lock)': File exists/s.exec(result.stderr) ?? [];
    if (result.code === 0 || lock === undefined || !(await outliveLock(dir, lock))) return result;
  }
}

/** The accepted `origin/HEAD`, then the person's `init.defaultBranch`, then the usual names, then the checked-out branch. */
export async function detectBase(
  dir: TrustedDir,
  remote: string | undefined,
  checkedOut: BranchName | null,
  tipOf: (ref: string) => Promise<CommitId | undefined>,
): Promise<BranchName | undefined> {
  const exists = async (branch: string): Promise<boolean> =>
    !branch.includes('\n') &&
    ((await tipOf(`refs/heads/${branch}`)) !== undefined ||
      (remote !== undefined && (await tipOf(`refs/remotes/${remote}/${branch}`)) !== undefined));
  for (const candidate of [
    remote && acceptedHead(dir.commonDir, remote, await remoteHead(dir, remote)),
    dir.remembered.defaultBranch,
    'main',
    'master',
    checkedOut,
  ]) {
    if (candidate && (await exists(candidate))) return brand(candidate);
  }
  return undefined;
}

async function remoteHead(dir: TrustedDir, remote: string): Promise<string | undefined> {
  const prefix = `refs/remotes/${remote}/`;
  const { code, stdout } = await tryGit(dir, ['symbolic-ref', '--quiet', `${prefix}HEAD`]);
  const target = stdout.toString().trimEnd();
  return code === 0 && target.startsWith(prefix) ? target.slice(prefix.length) : undefined;
}

export async function filesOf(dir: TrustedDir, commit: CommitId): Promise<readonly TrackedFile[]> {
  const output = await git(dir, ['ls-tree', '-r', '-z', '-l', '--full-tree', commit]);
  const files: TrackedFile[] = [];
  for (let from = 0; from < output.length;) {
    const tab = output.indexOf('\t', from);
    const end = output.indexOf(0, tab);
    const [mode = '', type, id = '', bytes] = output.toString('latin1', from, tab).split(/ +/);
    // Git stores no files of a submodule.
    if (type === 'blob') files.push({ path: output.subarray(tab + 1, end), mode, id, bytes: Number(bytes) });
    from = end + 1;
  }
  return files;
}
