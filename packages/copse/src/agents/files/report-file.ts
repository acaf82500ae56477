/**
 * `.copse/session.json` in a worktree: what an agent reports.
 *
 * The worktree is the agent's. A link where the folder or the file belongs is not followed, neither to read nor to write
 * (in-folder.ts); more than a megabyte is not read.
 *
 * Programs write as they like. A file that is not JSON is probably half of one, so it is a problem only when it still says
 * the same at the next look.
 */

import { type FSWatcher, lstatSync, mkdirSync, unlinkSync, watch } from 'node:fs';
import path from 'node:path';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { type Report, type ReportSeen, mergeReport, parseReport } from '../rules/session/report.ts';
import type { Reports } from '../ports/reports.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { readPlainFile } from '../../kernel/system/plain-file.ts';
import { inFolder } from '../../workspaces/files/in-folder.ts';
import { NotInside } from '../../workspaces/files/inside.ts';

const NAME = 'session.json';
const MOST_BYTES = 1024 * 1024;
const LOOK_EVERY_MS = 1_000;

/** Calls again and again, until the function that it returns is called. */
export type Interval = (look: () => void) => () => void;

export function openReports(interval: Interval = everySecond): Reports {
  return {
    watch: (worktree, on) => watchReport(worktree, on, interval),
    read: (worktree) => parsed(readReport(worktree)),
    write: writeReport,
    clear: clearReport,
  };
}

function everySecond(look: () => void): () => void {
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function watchReport(worktree: string, on: (seen: ReportSeen) => void, interval: Interval): { stop(): void } {
  /** What was told last, and what is a problem if it still says the same at the next look. */
  let told: string | undefined;
  let doubted: string | undefined;
  let isOver = false;
  const look = (when: 'bell' | 'look' | 'last'): void => {
    if (isOver) return;
    const found = readReport(worktree);
    const key = JSON.stringify(found);
    if (key === told) return;
    const seen = parsed(found);
    const isProblem = seen !== undefined && 'problem' in seen;
    if (isProblem && when !== 'last' && (when === 'bell' || doubted !== key)) {
      doubted = key;
      return;
    }
    told = key;
    if (seen !== undefined) on(seen);
  };
  const bell = new Bell(path.join(worktree, '.copse'), () => look('bell'));
  const stopLooking = interval(() => {
    bell.hang();
    look('look');
  });
  bell.hang();
  look('look');
  return {
    stop: () => {
      stopLooking();
      bell.take();
      // What was written right before the end counts as well.
      look('last');
      isOver = true;
    },
  };
}

/** Rings when something in the folder changes. It only makes things faster: there may be no folder, or no bell left. */
class Bell {
  readonly #folder: string;
  readonly #ring: () => void;
  #watcher: FSWatcher | undefined;
  #inode: bigint | undefined;

  constructor(folder: string, ring: () => void) {
    this.#folder = folder;
    this.#ring = ring;
  }

  /** Again, if the folder is another one by now. */
  hang(): void {
    const found = lstatSync(this.#folder, { throwIfNoEntry: false, bigint: true });
    const inode = found?.isDirectory() ? found.ino : undefined;
    if (inode === this.#inode) return;
    this.take();
    this.#inode = inode;
    if (inode === undefined) return;
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, (_, name) => {
        if (name === null || name === NAME) this.#ring();
      });
      this.#watcher.on('error', () => this.take());
    } catch {
      this.#watcher = undefined;
    }
  }

  take(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#inode = undefined;
  }
}

type Found = { readonly text: string } | { readonly problem: string } | undefined;

function parsed(found: Found): ReportSeen | undefined {
  return found !== undefined && 'text' in found ? parseReport(found.text) : found;
}

function readReport(worktree: string): Found {
  try {
    return inOwnFolder(worktree, (folder) => readText(path.join(folder, NAME)));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (error instanceof NotInside) return { problem: error.message };
    return { problem: `It cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function readText(file: string): Found {
  const found = readPlainFile(file, MOST_BYTES);
  if (found.kind === 'missing') return undefined;
  if (found.kind === 'link') return { problem: 'It is a link, and links are not followed.' };
  if (found.kind === 'other') return { problem: 'It is not a file.' };
  const { text, isCut } = found.value;
  return isCut ? { problem: `It has more than ${MOST_BYTES} bytes.` } : { text };
}

function writeReport(worktree: string, report: Report): void {
  makeOwnFolder(worktree);
  inOwnFolder(worktree, (folder) => {
    const file = path.join(folder, NAME);
    const before = readReport(worktree);
    const text = mergeReport(before !== undefined && 'text' in before ? before.text : '', report);
    writeAtomically(file, text, { mode: 0o666 });
  });
}

/** A link to nowhere is there, too. */
function makeOwnFolder(worktree: string): void {
  try {
    mkdirSync(path.join(worktree, '.copse'));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

function clearReport(worktree: string): void {
  try {
    inOwnFolder(worktree, (folder) => unlinkSync(path.join(folder, NAME)));
  } catch (error) {
    // Nothing is there, or something that is no report and will be told as such.
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EPERM') && !(error instanceof NotInside)) throw error;
  }
}

function inOwnFolder<T>(worktree: string, work: (folder: string) => T): T {
  return inFolder(worktree, ['.copse'], work);
}
