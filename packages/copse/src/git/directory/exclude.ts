/**
 * Keeps Copse's own files out of git without changing a tracked file.
 *
 * `info/exclude` is a person's file: Copse appends a line, leaves the other bytes as they are, and follows a link. The process
 * that appends holds `info/exclude.lock`, so that only one of several adds the line. A lock of a killed process is ignored
 * after a while.
 */

import { appendFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { hasCode } from '../../kernel/system/error-code.ts';
import { readPlainBytes } from '../../kernel/system/plain-file.ts';
import { removeKnownPipes } from '../run/pipes.ts';

const LEFT_BEHIND_MS = 2_000;
const PAUSE_MS = 5;

export function excludeFromGit(commonDir: string, pattern: string): void {
  const file = path.join(commonDir, 'info', 'exclude');
  const lock = `${file}.lock`;
  mkdirSync(path.dirname(file), { recursive: true });
  removeKnownPipes(commonDir);
  while (!isExcluded(file, pattern)) {
    if (!takeLock(lock)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      continue;
    }
    try {
      appendLine(file, pattern);
    } finally {
      rmSync(lock, { force: true });
    }
  }
}

function appendLine(file: string, pattern: string): void {
  if (isExcluded(file, pattern)) return;
  const text = read(file);
  appendFileSync(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${pattern}\n`);
}

function isExcluded(file: string, pattern: string): boolean {
  return read(file).split(/\r?\n/).includes(pattern);
}

/** As bytes: the file may have any encoding. */
function read(file: string): string {
  return readPlainBytes(file, { isFollowing: true })?.toString('latin1') ?? '';
}

function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, '', { flag: 'wx' });
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    const found = statSync(lock, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > LEFT_BEHIND_MS) rmSync(lock, { force: true });
    return false;
  }
}
