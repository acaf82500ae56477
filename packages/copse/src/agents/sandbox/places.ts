/**
 * Where the parts of a task's worktree really are. They are about to be opened to a sandbox, so every one has to be the
 * folder that its name says: an agent that once ran without a sandbox could have put a link there, and what the link leads to
 * would be opened in its place.
 */

import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type BranchName, brand, parseTaskId } from '../../kernel/ids.ts';
import {
  type WorktreePlaces,
  type WriteSet,
  ownNamespace,
  worktreeWriteSet,
} from '../rules/session/sandbox.ts';
import { type Confinable, NotConfined } from '../../processes/ports/programs.ts';
import { hasCode } from '../../kernel/system/error-code.ts';

export interface Repository {
  readonly commonDir: string;
  /** Where `.copse/` is. */
  readonly home: string;
}

export interface Opened extends WriteSet {
  /** Where the agent reports. */
  readonly reports: string;
  /** Files that keep git from taking a folder away as empty while it is open. */
  readonly placeholders: readonly string[];
}

/** What the program may write for its task. Makes the folders that git will need. */
export function openPlaces({ environment, folder }: Confinable, repository: Repository): Opened {
  const task = parseTaskId(environment['COPSE_TASK_ID'] ?? '');
  if (task === undefined) throw new NotConfined('A sandbox was asked for outside of any task.');
  const { COPSE_WORKTREE_PATH: worktree, COPSE_WORKTREE_BRANCH: branch } = environment;
  if (worktree === undefined || branch === undefined) {
    // It reads the checkout, and only what it reports is its own.
    if (environment['COPSE_WORKSPACE_STRATEGY'] === 'static')
      throw new NotConfined(
        `${task} works in the checkout itself, and a sandbox is there to protect it: use \`workspace.strategy: git_worktree\`.`,
      );
    const own = path.join(realpathSync(repository.home), '.copse', 'context', task);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return { write: [requireReal(own)], keep: [], placeholders: [], reports: own };
  }
  if (folder !== worktree)
    throw new NotConfined(`The agent of ${task} would begin in ${folder}, which is not its worktree.`);
  const namespace = ownNamespace(brand<BranchName>(branch), task);
  if (namespace === undefined)
    throw new NotConfined(
      `The branch ${branch} is not in a folder of its own, so a sandbox that lets ${task} commit would open other branches too: set \`workspace.branch_pattern\` to {task}/{slug}, and begin anew with copse reset ${task}.`,
    );
  const commonDir = realpathSync(repository.commonDir);
  const places: WorktreePlaces = {
    worktree: realpathSync(worktree),
    gitDir: gitDirOf(realpathSync(worktree), commonDir),
    commonDir,
    namespace,
  };
  const { write, keep } = worktreeWriteSet(places);
  const folders = ['refs/heads', 'logs/refs/heads'].map((above) => path.join(commonDir, above, namespace));
  for (const one of folders) makeReal(commonDir, one);
  write.forEach(requireReal);
  const placeholders = folders.map((one) => path.join(one, PLACEHOLDER));
  placeholders.forEach(put);
  return { write, keep, placeholders, reports: places.worktree };
}

/** Git takes no name that begins with a dot for a branch. */
const PLACEHOLDER = '.copse-sandbox';

/** `git pack-refs`, which `git gc` runs, would take the folder from under the sandbox, and nothing could be committed. */
function put(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

export function takeAway(placeholders: Iterable<string>): void {
  for (const file of placeholders) rmSync(file, { force: true });
}

/** As the repository has it; what the worktree says about itself is only compared. */
function gitDirOf(worktree: string, commonDir: string): string {
  const entry = path.join(worktree, '.git');
  const said = /^gitdir: (.+?)[\r\n]*$/s.exec(
    lstatSync(entry).isFile() ? readFileSync(entry, 'utf8') : '',
  )?.[1];
  const gitDir = said === undefined ? undefined : path.resolve(worktree, said);
  if (gitDir === undefined || path.dirname(realpathSync(gitDir)) !== path.join(commonDir, 'worktrees'))
    throw new NotConfined(`${worktree} is not a worktree of this repository any more.`);
  const back = readFileSync(path.join(gitDir, 'gitdir'), 'utf8').trimEnd();
  if (realpathSync(path.resolve(gitDir, back)) !== entry)
    throw new NotConfined(`${worktree} says it is the worktree that git has at ${back}.`);
  return realpathSync(gitDir);
}

/** One level after the other, so that nothing is made behind a link. */
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
  throw new NotConfined(`${folder} is not the folder that it should be, so it is not opened to a sandbox.`);
}
