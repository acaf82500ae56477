/**
 * Reads objects through a long-lived `git cat-file --batch-command`. If that process dies, the request is retried once in a
 * new one, and after that with a command of its own.
 */

import { type GitOptions, git, startGit, type TrustedDir } from '../process.ts';
import { type Measure, LongLivedProcess } from '../long-lived-process.ts';

export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

export type ObjectFacts = Omit<GitObject, 'content'> & { readonly size: number };

/** Takes object ids, full ref names, or `<id or ref>:<path>`. Undefined for a missing object. */
export class ObjectReader {
  readonly #dir: TrustedDir;
  readonly #options: Pick<GitOptions, 'env'>;
  readonly #process: LongLivedProcess;

  constructor(dir: TrustedDir, options: Pick<GitOptions, 'env'> = {}) {
    this.#dir = dir;
    this.#options = options;
    this.#process = new LongLivedProcess({
      start: () => startGit(dir, ['cat-file', '--batch-command'], options),
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async check(names: readonly string[]): Promise<readonly (ObjectFacts | undefined)[]> {
    if (names.length === 0) return [];
    const request = names.map((name) => `info ${oneLine(name)}\n`).join('');
    const lines = await this.#ask(request, () => wholeLines(names.length), '--batch-check', names);
    return lines
      .toString()
      .split('\n')
      .slice(0, names.length)
      .map((line) => facts(line));
  }

  async read(name: string): Promise<GitObject | undefined> {
    return (await this.readAll([name]))[0];
  }

  /** All in one request. */
  async readAll(names: readonly string[]): Promise<readonly (GitObject | undefined)[]> {
    if (names.length === 0) return [];
    const request = names.map((name) => `contents ${oneLine(name)}\n`).join('');
    const answer = await this.#ask(request, () => wholeObjects(names.length), '--batch', names);
    let at = 0;
    return names.map(() => {
      const { found, content, end } = objectAt(answer, at);
      at = end;
      return found && { id: found.id, type: found.type, content: answer.subarray(content, end - 1) };
    });
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  /** Reading has no side effects, so it may be retried after the process died. */
  async #ask(
    request: string,
    measure: () => Measure,
    plain: string,
    names: readonly string[],
  ): Promise<Buffer> {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { answer } = await this.#process.ask(request, measure());
      if (answer !== undefined) return answer;
    }
    const input = names.map((name) => `${name}\n`).join('');
    return git(this.#dir, ['cat-file', plain], { ...this.#options, input });
  }
}

const readers = new WeakMap<TrustedDir, ObjectReader>();

/** The reader that all callers of a repository share. It ends with the program. */
export function objectsOf(dir: TrustedDir): ObjectReader {
  const known = readers.get(dir) ?? new ObjectReader(dir);
  readers.set(dir, known);
  return known;
}

/** `<id> <type> <size>`; undefined for other lines, `<name> missing` for example. */
function facts(line: string): ObjectFacts | undefined {
  const [, id = '', type = '', size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
  return size === undefined ? undefined : { id, type, size: Number(size) };
}

function wholeLines(count: number): Measure {
  return (said) => {
    let end = -1;
    for (let line = 0; line < count; line += 1) {
      end = said.indexOf(0x0a, end + 1);
      if (end === -1) return { atLeast: said.length + 1 };
    }
    return { whole: end + 1 };
  };
}

/** Remembers the end of the last complete object, so that no byte is parsed twice when output arrives in pieces. */
function wholeObjects(count: number): Measure {
  let [known, at] = [0, 0];
  return (said) => {
    for (; known < count; known += 1) {
      const { end } = objectAt(said, at);
      if (end === -1) return { atLeast: said.length + 1 };
      if (end > said.length) return { atLeast: end };
      at = end;
    }
    return { whole: at };
  };
}

interface Located {
  readonly found: ObjectFacts | undefined;
  /** Offsets of the content and of the end of the answer; -1 while the answer is incomplete. */
  readonly content: number;
  readonly end: number;
}

function objectAt(said: Buffer, from: number): Located {
  const line = said.indexOf(0x0a, from);
  if (line === -1) return { found: undefined, content: -1, end: -1 };
  const found = facts(said.toString('latin1', from, line));
  return { found, content: line + 1, end: found === undefined ? line + 1 : line + 1 + found.size + 1 };
}

function oneLine(name: string): string {
  if (name.includes('\n')) throw new Error(`${JSON.stringify(name)} is not the name of a git object.`);
  return name;
}
