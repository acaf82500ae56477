/**
 * What an agent printed. The agent can write the file and its folder, so neither a link nor a pipe is followed, and only as many
 * bytes are read as the caller wants.
 */

import { readSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import type { AttemptId, TaskId } from '../../kernel/ids.ts';
import { NotInside, inFolder } from '../../kernel/system/in-folder.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { type Plain, withPlainFile } from '../../kernel/system/plain-file.ts';
import type { AttemptLogs, LogName } from '../ports/logs.ts';

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

export function openLogs(home: string): AttemptLogs {
  const top = path.join(home, '.copse');
  const within = <T>(name: LogName, work: (opened: number, bytes: number) => T) =>
    inLog(top, name, (file) => withPlainFile(file, (opened, { size }) => work(opened, size)));
  return {
    folderOf: (task) => {
      const folder = path.join(top, 'logs', task);
      const names = orMissing(() => inFolder(top, ['logs', task], (opened) => readdirSync(opened)));
      return names === undefined || names.length === 0 ? undefined : folder;
    },
    find: (name) => {
      const found = within(name, (_, bytes) => bytes);
      const file = path.join(top, 'logs', name.task, fileName(name));
      return found?.kind === 'plain' ? { file, bytes: found.value } : undefined;
    },
    read: (name, from, mostBytes) => {
      const read = within(name, (opened, bytes) => {
        const content = Buffer.alloc(Math.max(0, Math.min(bytes - from, mostBytes)));
        return content.subarray(0, readSync(opened, content, 0, content.length, from));
      });
      return read?.kind === 'plain' ? read.value : new Uint8Array();
    },
  };
}

function fileName({ attempt, isOfRunner }: LogName): string {
  return `${attempt}${isOfRunner ? '.runner.log' : '.log'}`;
}

function inLog<T>(top: string, name: LogName, work: (file: string) => Plain<T>): Plain<T> | undefined {
  return orMissing(() =>
    inFolder(top, ['logs', name.task], (folder) => work(path.join(folder, fileName(name)))),
  );
}

/** A folder that is not there, or is a link. */
function orMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotInside || hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
