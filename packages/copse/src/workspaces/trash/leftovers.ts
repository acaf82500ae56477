/** Finds and deletes what tasks and killed processes leave behind, one kind at a time. No link is followed. */

import { type Dirent, lstatSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import {
  type AttemptId,
  type BranchName,
  type TaskId,
  brand,
  parseTaskId,
  timestamp,
} from '../../kernel/ids.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { namesIn } from '../../kernel/system/names-in.ts';
import { removeTree } from '../../kernel/system/remove-tree.ts';
import { shellQuoted } from '../../kernel/shell.ts';
import { tryFileLock } from '../../git/lock.ts';
import type { TrustedDir } from '../../git/process.ts';
import { listCommits } from '../../git/refs/list-commits.ts';
import { beginningOf } from '../../git/worktrees/reflog.ts';
import { identify } from '../../processes/identity.ts';
import { dropKeepRefs, listKeepRefs } from '../git/rescue/keep-refs.ts';
import { folderSize } from '../files/folder-size.ts';
import { dropRecord } from '../files/furnish-record.ts';
import { taskBegunBy } from '../rules/naming.ts';
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
    logs(only) {
      const found = (['logs', 'artifacts'] as const).flatMap((kind) =>
        foldersOfTasks(inHome(kind), only).map(({ folder, task }) => ({
          kind,
          folder,
          task,
          at: timestamp(changedAt(folder)),
          hasOnlyTranscripts: hasOnlyTranscripts(folder),
          isDerived: kind === 'logs' || entriesIn(folder).every(isPatch),
        })),
      );
      return found.toSorted((one, other) => other.at - one.at);
    },
    transcripts: (only) =>
      foldersOfTasks(inHome('logs'), only).flatMap(({ folder, task }) =>
        entriesIn(folder).flatMap((entry) => {
          const [, attempt] = TRANSCRIPT.exec(entry.name) ?? [];
          if (attempt === undefined || !entry.isFile()) return [];
          const file = path.join(folder, entry.name);
          const bytes = (lstatSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * BLOCK_BYTES;
          return [{ file, task, attempt: brand<AttemptId>(attempt), bytes }];
        }),
      ),
    deleteLogs: deleted,
    async deleteFolder(folder, kept) {
      const all = entriesIn(folder).map(({ name }) => path.join(folder, name));
      const going = all.filter((place) => !kept.has(place));
      if (going.length === all.length) return deleted(folder);
      const problems: string[] = [];
      for (const place of going) problems.push(...(await deleted(place)));
      return problems;
    },
    async begunBranches() {
      const all = await listCommits(dir, [HEADS]);
      return all.flatMap(({ ref, commit }) => {
        const branch = ref.slice(HEADS.length);
        const message = beginningOf(dir.commonDir, branch);
        const task = message === undefined ? undefined : taskBegunBy(message);
        return task === undefined ? [] : [{ branch: brand<BranchName>(branch), tip: commit, task }];
      });
    },
    changedAt(folder) {
      const found = lstatSync(folder, { throwIfNoEntry: false });
      return found === undefined ? undefined : timestamp(Math.round(found.mtimeMs));
    },
    measuring(forMs) {
      const untilMs = performance.now() + forMs;
      return async (folder) => {
        const { bytes, isWhole } = await folderSize(folder, untilMs);
        return isWhole ? bytes : null;
      };
    },
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

const TRANSCRIPT = /^(at-\w+)\.jsonl$/;

function hasOnlyTranscripts(folder: string): boolean {
  const all = entriesIn(folder);
  return all.length > 0 && all.every((entry) => entry.isFile() && TRANSCRIPT.test(entry.name));
}

const HEADS = 'refs/heads/';
const BLOCK_BYTES = 512;

/** As `savePatch` names them: they can be made again from the commits. */
function isPatch(entry: Dirent): boolean {
  return entry.isFile() && /^[0-9a-f]{12}\.patch$/.test(entry.name);
}

/** None if the folder that should hold them is a link. */
function foldersOfTasks(
  parent: string,
  only?: TaskId,
): readonly { readonly folder: string; readonly task: TaskId }[] {
  if (lstatSync(parent, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return foldersIn(parent).flatMap(({ name }) => {
    const task = parseTaskId(name);
    const isMeant = task !== undefined && (only === undefined || only === task);
    return isMeant ? [{ folder: path.join(parent, name), task }] : [];
  });
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
