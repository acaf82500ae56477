/** The port `Git`, for one repository. */

import { existsSync, lstatSync, readSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { timestamp } from '../kernel/ids.ts';
import type { Policy } from '../kernel/policy.ts';
import { withPlainFile } from '../kernel/system/plain-file.ts';
import type { Git } from './port.ts';
import { refsOf } from './long-lived.ts';
import { restGits } from './long-lived-process.ts';
import { tryFileLock, withFileLock } from './lock.ts';
import { openStores } from './objects.ts';
import {
  countCommits,
  detectBase,
  filesOf,
  findTip,
  isAlias,
  isAncestor,
  mergeBase,
  moveRef,
} from './refs/refs.ts';
import { registrationAt, registrationOf, registrations, repairMoved } from './worktrees/registrations.ts';
import { fetchBranches, pushDelete, remoteName } from './refs/remote.ts';
import { openWorkRefs } from './refs/work-refs.ts';
import type { TrustedDir } from './process.ts';
import { stampOfFile } from './directory/trusted-dir.ts';
import {
  checkOut,
  holderOf,
  ignoredIn,
  lookAtWorktree,
  registerDetached,
  registerWorktree,
  stillUncommittedIn,
  uncommittedIn,
} from './worktrees/worktrees.ts';
import { headOf } from './worktrees/place.ts';
import { branchesMadeIn, isMadeIn } from './worktrees/reflog.ts';

export function openGit(dir: TrustedDir, policy: Pick<Policy, 'board' | 'workspace'>): Git {
  const lockFile = (name: string) => path.join(dir.home, '.copse', 'locks', name);
  const withLock: Git['withLock'] = (work) =>
    withFileLock(lockFile('worktrees'), policy.board.writePatienceMs, work);
  const remote = remoteUntilChanged(dir);
  const tip: Git['tip'] = (ref) => findTip(dir, ref);
  return {
    withLock,
    tryLock: (name, work, options) => tryPatiently(lockFile(name), work, options?.patienceMs ?? 0),
    look: (worktree) => lookAtWorktree(dir, worktree, tip),
    uncommitted: (worktree) => uncommittedIn(dir, worktree),
    stillUncommitted: (worktree, files) => stillUncommittedIn(dir, worktree, files),
    tip,
    isAncestor: (ancestor, of) => isAncestor(dir, ancestor, of),
    mergeBase: (one, other) => mergeBase(dir, one, other),
    countCommits: (notFrom, from) => countCommits(dir, notFrom, from),
    ignored: (trashed) => ignoredIn(dir, trashed),
    countFiles: (worktree) => countEntries(gitDirOf(dir, worktree)),
    files: (commit) => filesOf(dir, commit),
    holderOf: (branch, ignoring) => Promise.resolve(holderOf(dir, branch, ignoring)),
    isAlias: (branch) => isAlias(dir, branch),
    isMadeIn: (worktree, commit) => {
      const gitDir = gitDirOf(dir, worktree);
      return gitDir !== undefined && isMadeIn(gitDir, commit);
    },
    branchesMadeIn: (worktree, since) => {
      const gitDir = gitDirOf(dir, worktree);
      return gitDir === undefined ? [] : branchesMadeIn(dir.commonDir, gitDir, since);
    },
    detectBase: async () => detectBase(dir, remote(), headOf(dir.commonDir).branch, tip),
    remoteName: () => Promise.resolve(remote()),
    async fetch(branches) {
      const name = remote();
      if (name === undefined)
        return { kind: 'failed', because: 'no_remote', reason: 'The repository has no remote.' };
      return fetchBranches(dir, name, branches);
    },
    async moveRef(ref, from, to, reason) {
      const own = ref.startsWith('refs/copse/') ? await refsOf(dir).move(ref, from, to) : undefined;
      if (own?.kind === 'moved' || own?.because === 'changed') return own;
      return moveRef(dir, { ref, from, to, reason, isPatient: true });
    },
    async dropRef(ref, tip) {
      await refsOf(dir).move(ref, tip, null);
    },
    register: (worktree) => withLock(() => registerWorktree(dir, worktree)),
    registerDetached: (worktree, commit) => withLock(() => registerDetached(dir, worktree, commit)),
    checkOut: (place, sparse) => checkOut(dir, place, sparse),
    async repair(worktree) {
      await withLock(() => repairMoved(dir.commonDir, worktree));
    },
    worktrees: () => registrations(dir.commonDir).map(({ name, path: at }) => ({ name, path: at })),
    gitDirOf: (worktree) => gitDirOf(dir, worktree),
    headStamp: (worktree) => headStamp(gitDirOf(dir, worktree)),
    locks: async (worktree) => locksIn(gitDirOf(dir, worktree)),
    async deleteRemoteBranch(branch, tip) {
      const name = remote();
      if (name === undefined) return { kind: 'absent' };
      return pushDelete(dir, name, branch, tip);
    },
    stores: openStores(dir),
    work: openWorkRefs(dir),
    close: () => restGits(dir.home),
  };
}

function gitDirOf(dir: TrustedDir, worktree: string): string | undefined {
  const registration = registrationOf(dir.commonDir, worktree);
  if (registration.kind === 'registered') return registration.registration.gitDir;
  return registrationAt(dir.commonDir, worktree)?.gitDir;
}

function headStamp(gitDir: string | undefined): string {
  if (gitDir === undefined) return '';
  return ['HEAD', 'logs/HEAD'].map((name) => stampOfFile(path.join(gitDir, name))).join(' ');
}

/** Reads the configuration again only when it changed: reading starts git. */
function remoteUntilChanged(dir: TrustedDir): () => string | undefined {
  let known = { config: dir.remembered.config, remote: dir.remembered.remote ?? undefined };
  return () => {
    const config = stampOfFile(path.join(dir.commonDir, 'config'));
    if (known.config !== config) known = { config, remote: remoteName(dir) };
    return known.remote;
  };
}

/** Reads the header of the index: a signature, a version and the number of entries. */
function countEntries(gitDir: string | undefined): number {
  if (gitDir === undefined) return 0;
  const counted = withPlainFile(path.join(gitDir, 'index'), (index) => {
    const head = Buffer.alloc(12);
    return readSync(index, head, 0, head.length, 0) === head.length ? head.readUInt32BE(8) : 0;
  });
  return counted.kind === 'plain' ? counted.value : 0;
}

function locksIn(gitDir: string | undefined): Awaited<ReturnType<Git['locks']>> {
  if (gitDir === undefined || !existsSync(gitDir)) return [];
  return readdirSync(gitDir)
    .filter((name) => name.endsWith('.lock'))
    .flatMap((name) => {
      const found = lstatSync(path.join(gitDir, name), { throwIfNoEntry: false });
      return found ? [{ file: path.join(gitDir, name), since: timestamp(Math.round(found.mtimeMs)) }] : [];
    });
}

const LOOK_EVERY_MS = 50;

async function tryPatiently<T>(
  file: string,
  work: () => Promise<T>,
  patienceMs: number,
): Promise<{ readonly value: T } | undefined> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const done = await tryFileLock(file, work);
    if (done !== undefined || performance.now() >= until) return done;
    await sleep(LOOK_EVERY_MS);
  }
}
