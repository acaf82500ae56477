/**
 * The commit that a branch or HEAD names, read from the file in which git keeps it: tests ask this more often than anything else,
 * and a git for it takes a hundred times as long. Undefined if it is not that simple; then git has to be asked.
 */

import { existsSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A name without anything that git would interpret. */
const NAME = /^(?:refs\/heads\/)?[a-z][a-z0-9_-]*(?:\/[a-z0-9_-]+)*$/;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** What `git rev-parse` prints for these arguments. */
export function revParse(cwd: string, argv: readonly string[]): string | undefined {
  const [command, ...rest] = argv;
  if (command !== 'rev-parse') return undefined;
  const name = rest[0] === '--verify' ? rest.slice(1) : rest;
  const [only = ''] = name;
  if (name.length !== 1 || !(only === 'HEAD' || NAME.test(only))) return undefined;
  const dirs = gitDirs(cwd);
  return dirs && (only === 'HEAD' ? headOf(dirs) : branchOf(dirs, only));
}

interface GitDirs {
  /** Of this worktree. */
  readonly own: string;
  readonly common: string;
}

function gitDirs(cwd: string): GitDirs | undefined {
  const dotGit = path.join(cwd, '.git');
  const found = lstatSync(dotGit, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { own: dotGit, common: dotGit };
  const own = /^gitdir: (\/.+)\n$/.exec(plainText(dotGit) ?? '')?.[1];
  const common = own && plainText(path.join(own, 'commondir'))?.trimEnd();
  return own && common ? { own, common: path.resolve(own, common) } : undefined;
}

function headOf(dirs: GitDirs): string | undefined {
  const text = plainText(path.join(dirs.own, 'HEAD'))?.trimEnd() ?? '';
  if (COMMIT.test(text)) return text;
  const branch = /^ref: (refs\/heads\/.+)$/.exec(text)?.[1] ?? '';
  return NAME.test(branch) ? branchOf(dirs, branch) : undefined;
}

/** Of a short name, git prefers what is not a branch. */
function branchOf({ own, common }: GitDirs, name: string): string | undefined {
  const isWhole = name.startsWith('refs/heads/');
  const others = [
    path.join(own, name),
    path.join(common, 'refs', name),
    path.join(common, 'refs/tags', name),
  ];
  if (existsSync(path.join(common, 'packed-refs')) || (!isWhole && others.some((one) => existsSync(one))))
    return undefined;
  const text = plainText(path.join(common, isWhole ? name : `refs/heads/${name}`))?.trimEnd() ?? '';
  return COMMIT.test(text) ? text : undefined;
}

/** Not of a link, and not of a named pipe. */
function plainText(file: string): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  return readFileSync(file, 'utf8');
}
