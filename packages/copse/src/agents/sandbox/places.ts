/**
 * The real paths that a sandbox opens for a task. Each must be a real folder: an agent that once ran without a sandbox could
 * have put a symbolic link there, and the sandbox would open the link's target.
 */

import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type BranchName, brand, parseTaskId } from '../../kernel/ids.ts';
import {
  type WorktreePlaces,
  type WriteSet,
  ownNamespace,
  worktreeWriteSet,
} from '../rules/session/sandbox.ts';
import { type StoreMount, layStore } from '../../git/objects.ts';
import { type Confinable, NotConfined } from '../../processes/ports/programs.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { readIfPlain, readPlainFile } from '../../kernel/system/plain-file.ts';
import { isWithin } from '../../kernel/system/within.ts';

export interface SandboxRepository {
  readonly commonDir: string;
  /** The folder that has `.copse/`. */
  readonly home: string;
}

export interface Opened extends WriteSet {
  /** Files that keep git from removing a folder as empty while the sandbox uses it. */
  readonly placeholders: readonly string[];
  /** Folders at another path inside, outer ones first. */
  readonly mounts: readonly StoreMount[];
}

/**
 * Where new objects go: into a store of the attempt, into the repository where folders cannot be mounted, or nowhere, for
 * commands after which none are brought.
 */
export type NewObjects = 'own' | 'shared' | 'none';

/** What the program may write for its task. Creates the folders that git will need. */
export function openPlaces(
  { environment, folder, attempt }: Confinable,
  repository: SandboxRepository,
  newObjects: NewObjects,
): Opened {
  const task = parseTaskId(environment['COPSE_TASK_ID'] ?? '');
  if (task === undefined) throw new NotConfined('A sandbox needs a task, and COPSE_TASK_ID names none.');
  const { COPSE_WORKTREE_PATH: worktree, COPSE_WORKTREE_BRANCH: branch } = environment;
  if (worktree === undefined || branch === undefined) {
    // A task without a worktree only writes its report.
    if (environment['COPSE_WORKSPACE_STRATEGY'] === 'static')
      throw new NotConfined(
        `${task} works in the main checkout, which a sandbox must protect: set \`workspace.strategy: git_worktree\`.`,
      );
    const own = path.join(realpathSync(repository.home), '.copse', 'context', task);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return { write: [requireReal(own)], keep: [], placeholders: [], mounts: [] };
  }
  if (folder !== worktree)
    throw new NotConfined(`The agent of ${task} would start in ${folder}, which is not its worktree.`);
  const namespace = ownNamespace(brand<BranchName>(branch), task);
  if (namespace === undefined)
    throw new NotConfined(
      `The branch ${branch} is not in its own folder, so a sandbox in which ${task} can commit would open other branches too. Set \`workspace.branch_pattern\` to {task}/{slug}, then run copse reset ${task}.`,
    );
  const commonDir = realpathSync(repository.commonDir);
  const places: WorktreePlaces = {
    worktree: realpathSync(worktree),
    gitDir: gitDirOf(realpathSync(worktree), commonDir),
    commonDir,
    namespace,
    sharesObjects: newObjects === 'shared',
  };
  const { write, keep } = worktreeWriteSet(places);
  const folders = ['refs/heads', 'logs/refs/heads'].map((above) => path.join(commonDir, above, namespace));
  for (const one of folders) makeReal(commonDir, one);
  write.forEach(requireReal);
  const placeholders = folders.map((one) => path.join(one, PLACEHOLDER));
  placeholders.forEach(put);
  requireReal(path.join(commonDir, 'objects'));
  const mounts = newObjects === 'own' ? layStore(commonDir, { task, attempt }) : [];
  return { write, keep, placeholders, mounts };
}

/** What a check may write: its worktree, and nothing of the repository. */
export function openForCheck({ environment }: Confinable): Opened {
  const worktree = requireReal(realpathSync(environment['COPSE_WORKTREE_PATH'] ?? ''));
  return { write: [worktree], keep: [path.join(worktree, '.git')], placeholders: [], mounts: [] };
}

/** The folder in which it starts, and nothing else: a checkout that is made for one command. */
export function openFolder({ folder }: Confinable): Opened {
  return { write: [requireReal(realpathSync(folder))], keep: [], placeholders: [], mounts: [] };
}

/**
 * Worktrees of the repository besides this one. Agents may write what git keeps about worktrees, so one counts only if its own
 * `.git` agrees, and never one that would hide what all agents need.
 */
export function otherWorktrees(commonDir: string, needed: readonly string[]): readonly string[] {
  const registered = path.join(realpathSync(commonDir), 'worktrees');
  if (lstatSync(registered, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(registered).flatMap((name) => {
    const back = readShort(path.join(registered, name, 'gitdir'));
    if (back === undefined) return [];
    const place = path.dirname(path.resolve(registered, name, back));
    const said = /^gitdir: (.+)$/.exec(readShort(path.join(place, '.git')) ?? '')?.[1];
    const isOne = said !== undefined && path.resolve(place, said) === path.join(registered, name);
    return isOne && !needed.some((one) => isWithin(place, one)) ? [place] : [];
  });
}

const MOST_BYTES = 16 * 1024;

/** The first line of a plain file. */
function readShort(file: string): string | undefined {
  try {
    const found = readPlainFile(file, MOST_BYTES);
    return found.kind === 'plain' ? found.value.text.split('\n', 1)[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Git ignores names that begin with a dot. */
const PLACEHOLDER = '.copse-sandbox';

/** Without it `git pack-refs`, which `git gc` runs, removes the folder, and the sandbox cannot commit. */
function put(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

export function removePlaceholders(placeholders: Iterable<string>): void {
  for (const file of placeholders) rmSync(file, { force: true });
}

/** Taken from the repository; the worktree's own `.git` file is only compared with it. */
function gitDirOf(worktree: string, commonDir: string): string {
  const entry = path.join(worktree, '.git');
  const said = /^gitdir: (.+?)[\r\n]*$/s.exec(readIfPlain(entry) ?? '')?.[1];
  const gitDir = said === undefined ? undefined : path.resolve(worktree, said);
  if (gitDir === undefined || path.dirname(realpathSync(gitDir)) !== path.join(commonDir, 'worktrees'))
    throw new NotConfined(`${worktree} is no longer a worktree of this repository.`);
  const back = readIfPlain(path.join(gitDir, 'gitdir'))?.trimEnd() ?? '';
  if (realpathSync(path.resolve(gitDir, back)) !== entry)
    throw new NotConfined(`${worktree} claims to be the worktree at ${back}.`);
  return realpathSync(gitDir);
}

/** Level by level, so that nothing is created behind a link. */
function makeReal(from: string, folder: string): void {
  let place = from;
  for (const part of path.relative(from, folder).split(path.sep)) {
    place = path.join(place, part);
    mkdirSync(place, { recursive: true });
    requireReal(place);
  }
}

function requireReal(folder: string): string {
  if (lstatSync(folder).isDirectory() && realpathSync(folder) === folder) return folder;
  throw new NotConfined(`${folder} is a symbolic link or not a folder, so a sandbox cannot open it.`);
}
