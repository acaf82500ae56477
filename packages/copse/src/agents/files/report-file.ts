/**
 * `.copse/session.json` in a worktree: the agent's report. Its fields are described in rules/session/report.ts.
 *
 * Agents can write to the worktree. No symbolic link is followed, to read or to write (kernel/system/in-folder.ts), and at most a megabyte
 * is read.
 *
 * Programs may write the file in parts. Content that is not a report goes through two modes:
 *
 *   new content that is a report                → told at once
 *   new content that is not                     → suspected
 *   suspected content, unchanged a look later   → told as a problem; also when the watch ends
 *
 * `told` and `suspected` are the last contents in these modes; content that was told is never told twice. A look is a poll
 * each second; a file system event ('event') only looks sooner and never confirms a suspicion.
 */

import { type FSWatcher, lstatSync, mkdirSync, unlinkSync, watch } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { type Report, type ReportSeen, mergeReport, parseReport } from '../rules/session/report.ts';
import type { Reports } from '../ports/runners.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { readPlainFile } from '../../kernel/system/plain-file.ts';
import { NotInside, inFolder } from '../../kernel/system/in-folder.ts';

const NAME = 'session.json';
const MOST_BYTES = defaultPolicy.agentOutput.reportBytes;
const LOOK_EVERY_MS = defaultPolicy.agentOutput.reportEveryMs;

/** Calls `look` repeatedly, until the returned function is called. */
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
  let told: string | undefined;
  let suspected: string | undefined;
  let isOver = false;
  const look = (when: 'event' | 'poll' | 'last'): void => {
    if (isOver) return;
    const found = readReport(worktree);
    const key = JSON.stringify(found);
    if (key === told) return;
    const seen = parsed(found);
    const isProblem = seen?.kind === 'problem';
    if (isProblem && when !== 'last' && (when === 'event' || suspected !== key)) {
      suspected = key;
      return;
    }
    told = key;
    if (seen !== undefined) on(seen);
  };
  const watcher = new FolderWatcher(path.join(worktree, '.copse'), () => look('event'));
  const stopLooking = interval(() => {
    watcher.attach();
    look('poll');
  });
  watcher.attach();
  look('poll');
  return {
    stop: () => {
      stopLooking();
      watcher.detach();
      // Includes what was written right before the end.
      look('last');
      isOver = true;
    },
  };
}

/** Reports changes in a folder. Only an acceleration: the folder may be missing, and the system may have no watcher left. */
class FolderWatcher {
  readonly #folder: string;
  readonly #onChange: () => void;
  #watcher: FSWatcher | undefined;
  #inode: bigint | undefined;

  constructor(folder: string, onChange: () => void) {
    this.#folder = folder;
    this.#onChange = onChange;
  }

  /** Attaches anew when the folder was replaced. */
  attach(): void {
    const found = lstatSync(this.#folder, { throwIfNoEntry: false, bigint: true });
    const inode = found?.isDirectory() ? found.ino : undefined;
    if (inode === this.#inode) return;
    this.detach();
    this.#inode = inode;
    if (inode === undefined) return;
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, (_, name) => {
        if (name === null || name === NAME) this.#onChange();
      });
      this.#watcher.on('error', () => this.detach());
    } catch {
      this.#watcher = undefined;
    }
  }

  detach(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#inode = undefined;
  }
}

type FileContent =
  | { readonly kind: 'text'; readonly text: string }
  | Extract<ReportSeen, { kind: 'problem' }>
  | undefined;

function parsed(found: FileContent): ReportSeen | undefined {
  return found?.kind === 'text' ? parseReport(found.text) : found;
}

function readReport(worktree: string): FileContent {
  try {
    return inOwnFolder(worktree, (folder) => readText(path.join(folder, NAME)));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (error instanceof NotInside) return { kind: 'problem', problem: error.message };
    return {
      kind: 'problem',
      problem: `It cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function readText(file: string): FileContent {
  const found = readPlainFile(file, MOST_BYTES);
  if (found.kind === 'missing') return undefined;
  if (found.kind === 'link')
    return { kind: 'problem', problem: 'It is a symbolic link, which Copse does not follow.' };
  if (found.kind === 'other') return { kind: 'problem', problem: 'It is not a file.' };
  const { text, isCut } = found.value;
  return isCut
    ? { kind: 'problem', problem: `It has more than ${MOST_BYTES} bytes.` }
    : { kind: 'text', text };
}

function writeReport(worktree: string, report: Report): void {
  makeOwnFolder(worktree);
  inOwnFolder(worktree, (folder) => {
    const file = path.join(folder, NAME);
    const before = readReport(worktree);
    const text = mergeReport(before?.kind === 'text' ? before.text : '', report);
    writeAtomically(file, text, { mode: 0o666 });
  });
}

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
    // No file, or something that is not a report; reading it tells that.
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EPERM') && !(error instanceof NotInside)) throw error;
  }
}

function inOwnFolder<T>(worktree: string, work: (folder: string) => T): T {
  return inFolder(worktree, ['.copse'], work);
}
