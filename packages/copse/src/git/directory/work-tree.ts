/**
 * Whether a file is in a work tree of a repository: its main checkout or any linked worktree, wherever that is. Agents write
 * there, and what they write lands there, so Copse takes no program and no package from it to confine or drive an agent.
 */

import { realpathSync } from 'node:fs';
import path from 'node:path';

import { isWithin } from '../../kernel/system/within.ts';
import { type Repository, findRepository } from './locate.ts';

/** Whether Copse may take the file; true everywhere without a repository. */
export type IsOutside = (file: string) => boolean;

export function outsideOf(
  repository: Pick<Repository, 'commonDir' | 'configFolder' | 'home'> | undefined,
): IsOutside {
  if (repository === undefined) return () => true;
  const known = new Map<string, boolean>();
  return (file) => {
    const folder = path.dirname(realFile(file));
    const before = known.get(folder);
    if (before !== undefined) return before;
    const answer = !isInside(repository, folder);
    known.set(folder, answer);
    return answer;
  };
}

function isInside(
  { commonDir, configFolder, home }: Pick<Repository, 'commonDir' | 'configFolder' | 'home'>,
  folder: string,
): boolean {
  if ([commonDir, configFolder, home].some((own) => isWithin(realFile(own), folder))) return true;
  // A repository in a work tree, a submodule for example, belongs to the work tree around it too.
  for (let at: string | undefined = folder; at !== undefined;) {
    const found = repositoryAround(at);
    if (found?.commonDir === commonDir) return true;
    const above: string = path.dirname(found?.top ?? '/');
    at = found === undefined || above === found.top ? undefined : above;
  }
  return false;
}

function repositoryAround(folder: string): Repository | undefined {
  try {
    return findRepository(folder);
  } catch {
    // Something that is called `.git` and is broken: then it is no work tree of this repository.
    return undefined;
  }
}

function realFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
