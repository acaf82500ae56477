/**
 * Reads what a program writes as lines of JSON, while it writes it. The program writes into a file and not into a pipe, so
 * that it neither blocks nor loses anything when its runner is slow or killed.
 */

import { type FSWatcher, closeSync, openSync, readSync, watch } from 'node:fs';

/** A bell may be missing or lost; this is how late a line can be then. */
const LOOK_EVERY_MS = 250;
const CHUNK = 256 * 1024;
/** A line that is longer is left in the file. */
const LONGEST_LINE = 32 * 1024 * 1024;

export interface LineReader {
  /** Reads what is still there, and no more after that. */
  stop(): void;
}

/** `from` is where this turn begins in the file. Lines that are not JSON, such as warnings, go to `other`. */
export function readJsonLines(
  file: string,
  from: number,
  on: (value: unknown) => void,
  other: (line: string) => void,
): LineReader {
  const opened = openSync(file, 'r');
  const chunk = Buffer.alloc(CHUNK);
  let position = from;
  let rest: Buffer[] = [];
  let restLength = 0;
  let isOver = false;
  const look = (): void => {
    if (isOver) return;
    for (;;) {
      const length = readSync(opened, chunk, 0, chunk.length, position);
      if (length === 0) return;
      position += length;
      let begin = 0;
      for (let end = chunk.indexOf(10); end >= 0 && end < length; end = chunk.indexOf(10, begin)) {
        take(chunk.subarray(begin, end));
        begin = end + 1;
      }
      keep(Buffer.from(chunk.subarray(begin, length)));
    }
  };
  const keep = (bytes: Buffer): void => {
    restLength += bytes.length;
    if (restLength <= LONGEST_LINE) rest.push(bytes);
  };
  const take = (bytes: Buffer): void => {
    const line = Buffer.concat([...rest, bytes]).toString();
    const isWhole = restLength <= LONGEST_LINE;
    rest = [];
    restLength = 0;
    if (isWhole && line.trim() !== '') tell(line);
  };
  const tell = (line: string): void => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return other(line);
    }
    on(value);
  };
  let bell: FSWatcher | undefined;
  try {
    bell = watch(file, { persistent: false }, look);
    bell.on('error', () => {});
  } catch {
    // There are only so many.
  }
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    stop: () => {
      if (isOver) return;
      look();
      if (restLength > 0) take(Buffer.alloc(0));
      isOver = true;
      clearInterval(timer);
      bell?.close();
      closeSync(opened);
    },
  };
}
