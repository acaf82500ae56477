/**
 * The end of what an agent printed. The agent can write the file and its folder, so neither a link nor a pipe is followed, and
 * only the last bytes are read.
 */

import { readSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import type { AttemptId, TaskId } from '../../kernel/ids.ts';
import { inFolder } from '../../kernel/system/in-folder.ts';
import { withPlainFile } from '../../kernel/system/plain-file.ts';

const TAIL_BYTES = 8 * 1024;
const LONGEST_LINE = 400;

/** Without control characters. Null: there is no such line, or no plain file to read it from. */
export function lastLineOf(home: string, task: TaskId, attempt: AttemptId): string | null {
  try {
    const tail = inFolder(path.join(home, '.copse'), ['logs', task], (folder) =>
      withPlainFile(path.join(folder, `${attempt}.log`), (opened, { size }) => {
        const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
        const read = readSync(opened, bytes, 0, bytes.length, size - bytes.length);
        return bytes.toString('utf8', 0, read);
      }),
    );
    return tail.kind === 'plain' ? lastLine(tail.value) : null;
  } catch {
    // It is for people to look at: a log that cannot be read is shown as none.
    return null;
  }
}

/** A program that redraws its line ends each picture with a carriage return. */
function lastLine(text: string): string | null {
  const lines = stripVTControlCharacters(text).split(/[\r\n\u0085\u2028\u2029]/);
  const line = lines.map(readable).findLast((one) => one !== '');
  return line === undefined ? null : line.slice(0, LONGEST_LINE).toWellFormed();
}

/** Control characters, controls of text direction, and half a character where the tail begins. */
function readable(line: string): string {
  return line
    .replaceAll('\t', ' ')
    .replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069\ufffd]/gu, '')
    .trim();
}
