/**
 * Finds the repository around a folder by reading git's own files, without starting git: every command does this first, and a
 * process would cost more than the rest of `copse list`.
 *
 * All worktrees share the common directory (`.git` of the main checkout, or a bare repository). The board lives beside it, so
 * every worktree finds the same board.
 */

import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { RepositoryUnavailable } from '../unavailable.ts';

export interface Repository {
  /** The checkout or worktree around the folder, or the bare repository itself. */
  readonly top: string;
  readonly commonDir: string;
  /** The folder that holds `.copse/`: beside `.git`, or inside a git directory with another name. */
  readonly home: string;
  /** The folder that holds `copse.yml`: never a linked worktree, where an agent could write its own. */
  readonly configFolder: string;
}

export function findRepository(from: string): Repository | undefined {
  let folder = realpathSync(from);
  for (;;) {
    const found = repositoryAt(folder);
    if (found) return found;
    const parent = path.dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

/** The name under which git knows a linked worktree; undefined in a main checkout. */
export function worktreeNameOf({ top, commonDir }: Repository): string | undefined {
  const gitDir = gitDirOf(path.join(top, '.git'));
  return gitDir === undefined || gitDir === commonDir ? undefined : path.basename(gitDir);
}

function repositoryAt(folder: string): Repository | undefined {
  const gitDir = gitDirOf(path.join(folder, '.git'));
  if (gitDir !== undefined) {
    const commonDir = commonDirOf(gitDir);
    return describe(folder, commonDir, commonDir === gitDir ? folder : undefined);
  }
  // A bare repository, or a folder inside `.git`.
  if (!isGitDir(folder)) return undefined;
  return describe(folder, commonDirOf(folder), undefined);
}

function describe(top: string, commonDir: string, mainCheckout: string | undefined): Repository {
  const home = path.basename(commonDir) === '.git' ? path.dirname(commonDir) : commonDir;
  return { top, commonDir, home, configFolder: mainCheckout ?? checkoutBeside(commonDir) ?? home };
}

/**
 * The main checkout of a git directory that is not called `.git`: a submodule's is named after the checkout, and a bare
 * repository beside its worktrees (`.bare`) has a `.git` file next to it. A separate git directory does not tell.
 *
 * `core.worktree` names the checkout too, but agents can write it, and the place of `copse.yml` decides which commands run.
 */
function checkoutBeside(commonDir: string): string | undefined {
  if (path.basename(commonDir) === '.git') return undefined;
  for (const folder of [checkoutOfSubmodule(commonDir), path.dirname(commonDir)]) {
    const entry = folder && path.join(folder, '.git');
    if (entry && statSync(entry, { throwIfNoEntry: false })?.isFile() && gitDirOf(entry) === commonDir)
      return folder;
  }
  return undefined;
}

/** Git names a submodule after its path by default. */
function checkoutOfSubmodule(commonDir: string): string | undefined {
  const [, top, names] = /^(.+)\/\.git\/modules\/(.+)$/s.exec(commonDir) ?? [];
  return top === undefined || names === undefined
    ? undefined
    : path.join(top, names.replaceAll('/modules/', '/'));
}

/** `.git` is a folder in a main checkout and a file that names a folder in worktrees and submodules. */
function gitDirOf(entry: string): string | undefined {
  const found = statSync(entry, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.isDirectory()) return isGitDir(entry) ? realpathSync(entry) : undefined;
  const named = /^gitdir: (.+?)[\r\n]*$/s.exec(readIfPlain(entry) ?? '')?.[1];
  const gitDir = named === undefined ? undefined : path.resolve(path.dirname(entry), named);
  if (gitDir !== undefined && (isGitDir(gitDir) || isWorktreeGitDir(gitDir))) return realpathSync(gitDir);
  // Searching further up would find the board of another repository.
  throw new RepositoryUnavailable(
    `${entry} does not name a git directory${gitDir === undefined ? '' : `: ${gitDir} is not one`}.`,
    'git worktree repair # in the main checkout, if the repository was moved',
    { isMissing: true },
  );
}

function commonDirOf(gitDir: string): string {
  const file = path.join(gitDir, 'commondir');
  if (!existsSync(file)) return gitDir;
  const named = readIfPlain(file)?.trimEnd();
  const commonDir = named === undefined ? undefined : path.resolve(gitDir, named);
  if (commonDir !== undefined && isGitDir(commonDir)) return realpathSync(commonDir);
  throw new RepositoryUnavailable(
    `${file} does not name the git directory of a repository.`,
    'Go to the main checkout of the repository, and run the command there.',
    { isMissing: true },
  );
}

function isWorktreeGitDir(folder: string): boolean {
  return ['HEAD', 'commondir'].every((entry) => existsSync(path.join(folder, entry)));
}

function isGitDir(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((entry) => existsSync(path.join(folder, entry)));
}
