/**
 * Reads objects through a long-lived `git cat-file --batch-command`. If that process dies, the request is retried once in a
 * new one, and after that with a command of its own.
 */

import { type GitOptions, git, startGit, type TrustedDir } from '../process.ts';
import { type Measure, LongLivedProcess } from '../long-lived-process.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { BeyondLimits } from '../../kernel/unavailable.ts';
import { removePipes } from '../run/pipes.ts';
import { bringAll } from './stores/open.ts';

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
      home: dir.home,
      start: () => startGit(dir, ['cat-file', '--batch-command'], options),
      onPipe: () => void removePipes(dir.commonDir),
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async check(names: readonly string[]): Promise<readonly (ObjectFacts | undefined)[]> {
    return this.#again(() => this.#check(names));
  }

  async #check(names: readonly string[]): Promise<readonly (ObjectFacts | undefined)[]> {
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
  readAll(names: readonly string[]): Promise<readonly (GitObject | undefined)[]> {
    return this.#again(() => this.#readAll(names));
  }

  /** A branch may name an object that its agent wrote a moment ago and that is still in the agent's own store. */
  async #again<T>(ask: () => Promise<readonly (T | undefined)[]>): Promise<readonly (T | undefined)[]> {
    const found = await ask();
    return found.every((one) => one !== undefined) || !(await bringAll(this.#dir)) ? found : ask();
  }

  async #readAll(names: readonly string[]): Promise<readonly (GitObject | undefined)[]> {
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

  /** Started anew at the next question, with the environment as it is then. */
  rest(): Promise<void> {
    return this.#process.rest();
  }

  /** Reading has no side effects, so it may be retried after the process died. */
  async #ask(
    request: string,
    measure: () => Measure,
    plain: string,
    names: readonly string[],
  ): Promise<Buffer> {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const outcome = await this.#process.ask(request, measure());
      if (outcome.kind === 'too_large') throw beyond(outcome.what);
      if (outcome.answer !== undefined) return outcome.answer;
    }
    const input = names.map((name) => `${name}\n`).join('');
    return git(this.#dir, ['cat-file', plain], { ...this.#options, input });
  }
}

function beyond(id: string): BeyondLimits {
  const { objectBytes } = defaultPolicy.git;
  return new BeyondLimits(
    `The object ${id} has more than ${objectBytes} bytes, which is more than Copse reads.`,
    `git cat-file -t ${id} # to look at it`,
  );
}

const readers = new WeakMap<TrustedDir, ObjectReader>();

/** The reader that all callers of a repository share. `close` of the port Git ends its process. */
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
      const { found, end } = objectAt(said, at);
      if (end === -1) return { atLeast: said.length + 1 };
      if (found !== undefined && found.size > defaultPolicy.git.objectBytes) return { tooLarge: found.id };
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
