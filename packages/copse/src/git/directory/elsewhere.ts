/** The repository of an agent with a `working_directory`: found, refused by name, or cloned. */

import { existsSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { hasCode } from '../../kernel/system/error-code.ts';
import { isWithin } from '../../kernel/system/within.ts';
import { type Repository, findRepository } from './locate.ts';
import { absolutePath } from './trusted-config.ts';

export interface WorkingDirectory {
  readonly root: string;
  readonly auto_clone: boolean;
  readonly url?: string | undefined;
  readonly clone_depth?: number | undefined;
  readonly default_branch?: string | undefined;
}

export type PlaceOfAgent =
  /** It names the board's own repository. */
  | { readonly kind: 'own' }
  | { readonly kind: 'elsewhere'; readonly root: string; readonly repository: Repository }
  /** It may be cloned. */
  | { readonly kind: 'to_clone'; readonly root: string; readonly url: string; readonly reason: string }
  | { readonly kind: 'refused'; readonly root: string; readonly reason: string };

export function placeOf(board: Repository, wanted: WorkingDirectory, userHome: string): PlaceOfAgent {
  const named = wanted.root.replace(/^~(?=\/|$)/, () => userHome);
  const given = path.resolve(board.configFolder, named);
  if (!existsSync(given)) return missing(given, wanted);
  const root = realpathSync(given);
  const refuse = (why: string) => ({ kind: 'refused', root, reason: `${root} ${why}` }) as const;
  const found = findRepository(root);
  if (found === undefined) return refuse('is not a git repository');
  if (found.top !== root) return refuse(`is inside ${found.top}: name the main checkout of a repository`);
  if (found.commonDir === board.commonDir)
    return found.configFolder === root
      ? { kind: 'own' }
      : refuse("is a worktree of the board's own repository: leave working_directory out");
  if (isWithin(board.commonDir, found.commonDir) || isWithin(board.configFolder, root))
    return refuse("is inside the board's own repository");
  if (found.commonDir === root) return refuse('is a bare repository: name a checkout of it');
  if (found.configFolder !== root)
    return refuse(`is a worktree of ${found.configFolder}: name the main checkout`);
  return { kind: 'elsewhere', root, repository: found };
}

function missing(root: string, { auto_clone: clones, url }: WorkingDirectory): PlaceOfAgent {
  if (!clones)
    return { kind: 'refused', root, reason: `${root} does not exist: clone it there, or set auto_clone` };
  if (url === undefined)
    return { kind: 'refused', root, reason: `${root} does not exist, and auto_clone needs a url` };
  const reason = `${root} does not exist yet: an orchestrator clones it when it starts`;
  return { kind: 'to_clone', root, url, reason };
}

/**
 * Clones beside the place and renames: a kill leaves no half clone there. Returns why it failed, or null. Hooks, templates
 * and configuration of the machine have no effect, and an address cannot name a program.
 */
export async function cloneTo(
  { root, url }: Extract<PlaceOfAgent, { kind: 'to_clone' }>,
  { clone_depth: depth, default_branch: branch }: WorkingDirectory,
  timeoutMs: number,
): Promise<string | null> {
  const parent = path.dirname(root);
  if (!existsSync(parent)) return `the folder ${parent} does not exist`;
  const prefix = `.${path.basename(root)}.copse-clone-`;
  for (const left of readdirSync(parent)) {
    const pid = left.startsWith(prefix) ? Number(left.slice(prefix.length)) : NaN;
    if (Number.isInteger(pid) && !isRunning(pid))
      rmSync(path.join(parent, left), { recursive: true, force: true });
  }
  const scratch = path.join(parent, `${prefix}${process.pid}`);
  const options = [
    ...(depth === undefined ? [] : [`--depth=${depth}`, '--no-single-branch']),
    ...(branch === undefined ? [] : [`--branch=${branch}`]),
  ];
  try {
    const argv = [
      'clone',
      '--quiet',
      '--template=',
      '--no-recurse-submodules',
      ...options,
      '--',
      url,
      scratch,
    ];
    await promisify(execFile)('git', argv, { cwd: parent, timeout: timeoutMs, env: cloneEnvironment() });
    // Another process may have been faster.
    if (!existsSync(root)) renameSync(scratch, root);
    return null;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    return said.trim().split('\n').at(-1)?.replaceAll(url, 'its url') ?? 'git clone failed';
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function cloneEnvironment(): NodeJS.ProcessEnv {
  const { HOME, SSH_AUTH_SOCK } = process.env;
  return {
    PATH: absolutePath(process.env['PATH']),
    ...(HOME && { HOME }),
    ...(SSH_AUTH_SOCK && { SSH_AUTH_SOCK }),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It may belong to another user.
    return hasCode(error, 'EPERM');
  }
}
