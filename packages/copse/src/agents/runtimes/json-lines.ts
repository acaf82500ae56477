/**
 * Reads lines of JSON while a program writes them. The program writes into a file and not into a pipe, so that it neither
 * blocks nor loses output when its runner is slow or killed.
 */

import { type FSWatcher, closeSync, openSync, readSync, statSync, watch } from 'node:fs';

import { defaultPolicy } from '../../kernel/policy.ts';

/** The delay of a line when the file watcher is missing or loses an event. */
const LOOK_EVERY_MS = 250;
const CHUNK = 256 * 1024;
const LONGEST_LINE = defaultPolicy.agentOutput.lineBytes;

export interface LineReader {
  /** Reads the rest, and then no more. */
  stop(): void;
}

/** `from` is where this turn begins in the file. Lines that are not JSON, for example warnings, go to `other`. */
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
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(file, { persistent: false }, look);
    watcher.on('error', () => {});
  } catch {
    // The system has no watcher left; polling is enough.
  }
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    stop: () => {
      if (isOver) return;
      look();
      if (restLength > 0) take(Buffer.alloc(0));
      isOver = true;
      clearInterval(timer);
      watcher?.close();
      closeSync(opened);
    },
  };
}

export interface RecordFollower {
  /** Looks for the record again, unless it was found. */
  look(): void;
  /** Reads the rest of the record, and then no more. */
  stop(): void;
}

/**
 * Follows the record that a program keeps of its conversation. A record that exists when this is called holds earlier turns:
 * only what is added to it is read. One that appears later is read from its beginning.
 */
export function followRecord(find: () => string | undefined, take: (value: unknown) => void): RecordFollower {
  let reader: LineReader | undefined;
  const follow = (from: (file: string) => number): void => {
    if (reader !== undefined) return;
    const file = find();
    if (file === undefined) return;
    try {
      reader = readJsonLines(file, from(file), take, () => {});
    } catch {
      // The file was removed after it was found; the next look tries again.
    }
  };
  follow((file) => statSync(file).size);
  return {
    look: () => follow(() => 0),
    stop: () => {
      follow(() => 0);
      reader?.stop();
    },
  };
}
