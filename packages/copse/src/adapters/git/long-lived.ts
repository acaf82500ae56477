/**
 * Gits that stay, for what the merge queue asks by the hundred: reading objects, moving refs, merging. Each answers as the
 * plain command would, and where the process that stays cannot, the plain command is what answers.
 *
 *   cat-file --batch-command      never ends by itself
 *   update-ref --stdin            ends when a ref is not where it was expected to be, or is locked
 *   merge-tree --write-tree --stdin
 *                                 ends at a revision it does not know, and keeps its answers back (git 2.39) unless its
 *                                 output is unbuffered, which takes `stdbuf`
 */

import { type CommitId, brand } from '../../domain/ids.ts';
import type { RefMove } from '../../ports/git.ts';
import { GitFailed, git, startGit, tryGit } from './process.ts';
import { refuseLinkedRef } from './linked-refs.ts';
import { findTip, moveRef } from './refs.ts';
import { type Measure, StandingProcess } from './standing-process.ts';
import type { TrustedDir } from './trusted-dir.ts';

export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

export type ObjectFacts = Omit<GitObject, 'content'> & { readonly size: number };

/** Names are ids, or full names of refs, or `<either>:<path>`; undefined for what is not there. */
export class ObjectReader {
  readonly #dir: TrustedDir;
  readonly #standing: StandingProcess;

  constructor(dir: TrustedDir) {
    this.#dir = dir;
    this.#standing = new StandingProcess({ start: () => startGit(dir, ['cat-file', '--batch-command']) });
  }

  get pid(): number | undefined {
    return this.#standing.pid;
  }

  async check(names: readonly string[]): Promise<readonly (ObjectFacts | undefined)[]> {
    if (names.length === 0) return [];
    const request = names.map((name) => `info ${oneLine(name)}\n`).join('');
    const lines = await this.#ask(request, wholeLines(names.length), '--batch-check', names);
    return lines
      .toString()
      .split('\n')
      .slice(0, names.length)
      .map((line) => facts(line));
  }

  async read(name: string): Promise<GitObject | undefined> {
    const answer = await this.#ask(`contents ${oneLine(name)}\n`, wholeObject, '--batch', [name]);
    const end = answer.indexOf('\n');
    const found = facts(answer.subarray(0, end).toString());
    if (found === undefined) return undefined;
    const { id, type, size } = found;
    return { id, type, content: answer.subarray(end + 1, end + 1 + size) };
  }

  close(): Promise<void> {
    return this.#standing.close();
  }

  /** Reading twice is the same as reading once, so a process that died is asked again before the plain command is. */
  async #ask(request: string, measure: Measure, plain: string, names: readonly string[]): Promise<Buffer> {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { answer } = await this.#standing.ask(request, measure);
      if (answer !== undefined) return answer;
    }
    return git(this.#dir, ['cat-file', plain], { input: names.map((name) => `${name}\n`).join('') });
  }
}

const readers = new WeakMap<TrustedDir, ObjectReader>();

/** One for all who ask about a repository. Nobody closes it: it ends with the program. */
export function objectsOf(dir: TrustedDir): ObjectReader {
  const known = readers.get(dir) ?? new ObjectReader(dir);
  readers.set(dir, known);
  return known;
}

/** Moves refs, each from where it is expected to be. */
export class RefWriter {
  readonly #dir: TrustedDir;
  readonly #standing: StandingProcess;
  readonly #reason: string;
  readonly #nothing: string;

  constructor(dir: TrustedDir, reason = 'copse') {
    this.#dir = dir;
    this.#reason = reason;
    this.#nothing = '0'.repeat(dir.objectFormat === 'sha256' ? 64 : 40);
    this.#standing = new StandingProcess({
      start: () => startGit(dir, ['update-ref', '-m', reason, '-z', '--stdin']),
      expectedLastWords: /^fatal: /,
    });
  }

  get pid(): number | undefined {
    return this.#standing.pid;
  }

  /** Null as the old value: it must not exist; as the new one: it goes. */
  async move(ref: string, from: CommitId | null, to: CommitId | null): Promise<RefMove> {
    refuseLinkedRef(this.#dir.commonDir, ref, { isDeletion: to === null });
    const old = from ?? this.#nothing;
    const step = to === null ? `delete ${ref}\0${old}\0` : `update ${ref}\0${to}\0${old}\0`;
    const outcome = await this.#standing.ask(`start\0${step}prepare\0commit\0`, wholeTransaction);
    if (outcome.answer !== undefined) return { moved: true };
    // It may have ended after the ref was moved. Where the ref is says so, unless it was to stay where it is.
    const tip = (await findTip(this.#dir, ref)) ?? null;
    if (outcome.because === 'died' && tip === to && from !== to && !outcome.stderr.startsWith('fatal: ')) {
      return { moved: true };
    }
    return moveRef(this.#dir, { ref, from, to, reason: this.#reason });
  }

  close(): Promise<void> {
    return this.#standing.close();
  }
}

const writers = new WeakMap<TrustedDir, RefWriter>();

/** One for all refs of Copse's own, of which git keeps no reflog: branches are moved with the reason for it. */
export function refsOf(dir: TrustedDir): RefWriter {
  const known = writers.get(dir) ?? new RefWriter(dir);
  writers.set(dir, known);
  return known;
}

interface Conflict {
  readonly paths: readonly string[];
  /** In git's words, such as `CONFLICT (contents)`. */
  readonly type: string;
  readonly message: string;
}

export type Merged =
  | { readonly clean: true; readonly tree: string }
  /** The tree has conflict markers in it. */
  | { readonly clean: false; readonly tree: string; readonly conflicts: readonly Conflict[] };

/** Merges two commits into a tree, without files and without moving anything. */
export class Merger {
  readonly #dir: TrustedDir;
  readonly #standing: StandingProcess;

  constructor(dir: TrustedDir) {
    this.#dir = dir;
    this.#standing = new StandingProcess({
      start: () => startGit(dir, ['merge-tree', '--write-tree', '--stdin'], { isUnbuffered: true }),
      expectedLastWords: /not something we can merge|unrelated histories/,
    });
  }

  get pid(): number | undefined {
    return this.#standing.pid;
  }

  async merge(ours: CommitId, theirs: CommitId): Promise<Merged> {
    const { answer } = await this.#standing.ask(`${oneWord(ours)} ${oneWord(theirs)}\n`, wholeMerge);
    if (answer !== undefined) {
      const [status, ...fields] = answer.toString().split('\0');
      return merged(status === '1', fields);
    }
    const argv = ['merge-tree', '--write-tree', '-z', ours, theirs];
    const { code, stdout, stderr } = await tryGit(this.#dir, argv);
    // A revision that does not exist ends it with 1 as well, but without a tree.
    if (code > 1 || stdout.length === 0) throw new GitFailed(argv, code, stderr);
    return merged(code === 0, stdout.toString().split('\0'));
  }

  close(): Promise<void> {
    return this.#standing.close();
  }
}

/** `<id> <type> <size>`, or `<name> missing` and the like. */
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

const wholeObject: Measure = (said) => {
  const end = said.indexOf(0x0a);
  if (end === -1) return { atLeast: said.length + 1 };
  const found = facts(said.subarray(0, end).toString());
  const length = found === undefined ? end + 1 : end + 1 + found.size + 1;
  return said.length < length ? { atLeast: length } : { whole: length };
};

const wholeTransaction: Measure = (said) => {
  const last = 'commit: ok\n';
  const at = said.indexOf(last);
  return at === -1 ? { atLeast: said.length + 1 } : { whole: at + last.length };
};

/** A status, a tree, and after a conflict the files and the messages, each list ended by an empty field. */
const wholeMerge: Measure = (said) => {
  const field = fieldsOf(said);
  const isConflict = field() === '0';
  field();
  if (isConflict) while (field()) continue;
  for (let count = field(); count; count = field()) {
    for (let skipped = 0; skipped < Number(count) + 2; skipped += 1) field();
  }
  const end = field.end();
  return end === undefined ? { atLeast: said.length + 1 } : { whole: end };
};

/** One field after another; undefined, and no end, once they are used up. */
function fieldsOf(said: Buffer): { (): string | undefined; end(): number | undefined } {
  let at: number | undefined = 0;
  const next = () => {
    const end = at === undefined ? -1 : said.indexOf(0, at);
    const text = end === -1 ? undefined : said.subarray(at, end).toString();
    at = end === -1 ? undefined : end + 1;
    return text;
  };
  return Object.assign(next, { end: () => at });
}

function merged(clean: boolean, [tree = '', ...rest]: readonly string[]): Merged {
  if (clean) return { clean, tree };
  const messages = rest.slice(rest.indexOf('') + 1);
  const conflicts: Conflict[] = [];
  for (let at = 0; at < messages.length && messages[at] !== '';) {
    const type = at + 1 + Number(messages[at]);
    const paths = messages.slice(at + 1, type);
    const message = messages[type + 1] ?? '';
    if (messages[type]?.startsWith('CONFLICT')) {
      conflicts.push({ paths, type: messages[type], message: message.trimEnd() });
    }
    at = type + 2;
  }
  return { clean, tree, conflicts };
}

function oneLine(name: string): string {
  if (name.includes('\n')) throw new Error(`${JSON.stringify(name)} is not the name of a git object.`);
  return name;
}

function oneWord(commit: CommitId): string {
  if (!/^\S+$/.test(commit)) throw new Error(`${JSON.stringify(commit)} is not the name of a commit.`);
  return brand<CommitId>(commit);
}
