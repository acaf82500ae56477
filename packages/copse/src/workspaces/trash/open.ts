import { existsSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import { type Trash, type TrashEntry, queueAsTask } from '../ports/trash.ts';
import { fromTrash } from './bring-back.ts';
import { repositoriesIn } from './repositories.ts';
import { thin } from './thin.ts';
import { begin, listTrash, markKept, markThin, readEntry, retire } from './entry.ts';
import { deleteTrash, stateOf, toTrash } from './trash.ts';

/** The trash of one repository; `home` is where `.copse/` is. */
export function openTrash(home: string, objectFormat: 'sha1' | 'sha256'): Trash {
  return {
    async put(removed) {
      const trashed = toTrash({ home, ...removed });
      if (trashed.kind !== 'moved') throw new Error(`${trashed.reason} Nothing was deleted.`);
      return trashed.entry;
    },
    list: async () => {
      const wanted = listTrash(home).filter((entry) => {
        // An entry with only a record is a removal that moved nothing.
        const { hasFiles, hasGitDir } = stateOf(entry);
        return !entry.isRetired && (hasFiles || hasGitDir);
      });
      return wanted.toReversed();
    },
    async bringBack(entry, worktree, gitDir) {
      const modules = path.join(entry.gitDir, 'modules');
      const place = gitDir && path.join(gitDir, 'modules');
      if (place && existsSync(modules) && !existsSync(place)) renameSync(modules, place);
      return fromTrash(entry, worktree);
    },
    begin: async (entry) => begin(entry),
    retire: async (entry) => retire(entry),
    all: async () => listTrash(home),
    again: async (folder) => readEntry(folder),
    async thin(entry, held) {
      await thin(entry.files, held, { objectFormat });
      markThin(entry);
    },
    isEmpty: (entry) => entry.isThin && hasNothing(entry),
    repositories: workIn,
    async delete(entry) {
      const repositories = workIn(entry);
      if (repositories.length > 0) {
        markKept(entry);
        return { kind: 'kept', repositories };
      }
      await deleteTrash(entry);
      return { kind: 'deleted' };
    },
  };
}

function workIn(entry: TrashEntry): readonly string[] {
  return entry.record.task === queueAsTask ? [] : repositoriesIn(entry);
}

/** What every worktree of an agent has, whatever the agent did. */
const OWN_FILES: ReadonlySet<string> = new Set([
  '.git',
  'AGENT_CONTEXT.md',
  '.copse/AGENT_CONTEXT.md',
  '.copse/session-context.json',
  '.copse/session-prompt.md',
  '.copse/shared',
]);

function hasNothing({ files, gitDir }: TrashEntry): boolean {
  if (existsSync(path.join(gitDir, 'modules'))) return false;
  return !existsSync(files) || isOwn(files, '');
}

function isOwn(top: string, folder: string): boolean {
  return readdirSync(path.join(top, folder), { withFileTypes: true }).every((entry) => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? isOwn(top, name) : OWN_FILES.has(name);
  });
}
