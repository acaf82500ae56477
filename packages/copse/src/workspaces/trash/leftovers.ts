/** Finds and deletes what tasks and killed processes leave behind, one kind at a time. No link is followed. */

import { type Dirent, lstatSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type TaskId, parseTaskId, timestamp } from '../../kernel/ids.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { namesIn } from '../../kernel/system/names-in.ts';
import { removeTree } from '../../kernel/system/remove-tree.ts';
import { shellQuoted } from '../../kernel/shell.ts';
import { tryFileLock } from '../../git/lock.ts';
import type { TrustedDir } from '../../git/process.ts';
import { identify } from '../../processes/identity.ts';
import { dropKeepRefs, listKeepRefs } from '../git/rescue/keep-refs.ts';
import { dropRecord } from '../files/furnish-record.ts';
import type { TaskLeftovers } from '../ports/leftovers.ts';

const SCRATCH_MS = defaultPolicy.leftovers.scratchMs;
const NAMELESS_MS = defaultPolicy.leftovers.namelessMs;

/** `teardowns` is the folder of checkouts in which teardown commands run, of all repositories. */
export function openLeftovers(dir: TrustedDir, teardowns?: string): TaskLeftovers {
  const inHome = (...names: readonly string[]) => path.join(dir.home, '.copse', ...names);
  return {
    async deleteScratch(now) {
      const problems: string[] = [];
      const places = [inHome('tmp'), ...(teardowns === undefined ? [] : [teardowns])];
      const all = places.flatMap((place) => foldersIn(place).map(({ name }) => ({ place, name })));
      for (const { place, name } of all) {
        const [, pid] = /^rescue-(?:(\d+)-)?\w+$/.exec(name) ?? [];
        if (!name.startsWith('rescue-')) continue;
        const folder = path.join(place, name);
        const ageMs = now - changedAt(folder);
        const isLeft =
          pid === undefined ? ageMs > NAMELESS_MS : ageMs > SCRATCH_MS && (await isGone(Number(pid)));
        if (!isLeft) continue;
        problems.push(...(await deleted(folder)));
      }
      return problems;
    },
    logs() {
      const tasks = ['logs', 'artifacts'].flatMap((kind) =>
        foldersIn(inHome(kind)).flatMap(({ name }) => {
          const task = parseTaskId(name);
          return task === undefined ? [] : [{ folder: inHome(kind, name), task }];
        }),
      );
      return tasks
        .map(({ folder, task }) => ({ folder, task, at: timestamp(changedAt(folder)) }))
        .toSorted((one, other) => other.at - one.at);
    },
    deleteLogs: deleted,
    locks: () =>
      namesIn(inHome('locks')).flatMap((name) => (name.startsWith('task-') ? parsed(name.slice(5)) : [])),
    async deleteLock(task) {
      const file = inHome('locks', `task-${task}`);
      // Under the lock: a process that has opened the file meanwhile notices that it is another one.
      await tryFileLock(file, () => {
        dropRecord(inHome('furnished', `${task}.json`));
        rmSync(file, { force: true });
        return Promise.resolve();
      });
    },
    kept: (branch) => listKeepRefs(dir, branch),
    dropKept: (refs) => dropKeepRefs(dir, refs),
  };
}

/** Why it could not be deleted, if so. */
async function deleted(folder: string): Promise<readonly string[]> {
  try {
    await removeTree(folder);
    return [];
  } catch (error) {
    return [undeletable(folder, error)];
  }
}

function undeletable(folder: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `Cannot delete ${folder}, which a command of this project left (${reason}). Delete it: sudo rm -r ${shellQuoted(folder)}`;
}

async function isGone(pid: number): Promise<boolean> {
  return (await identify(pid)) === undefined;
}

function parsed(name: string): readonly TaskId[] {
  const task = parseTaskId(name);
  return task === undefined ? [] : [task];
}

function changedAt(folder: string): number {
  return Math.round(lstatSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

function foldersIn(folder: string): readonly Dirent[] {
  return entriesIn(folder).filter((entry) => entry.isDirectory());
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
