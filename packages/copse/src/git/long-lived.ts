/**
 * Long-lived gits that move refs and merge, for the hundreds of requests of the merge queue; object-reader.ts reads objects.
 * Each gives the answer of the plain command. If the long-lived process fails, the plain command runs.
 *
 *   update-ref --stdin            ends when a ref is not at the expected commit, or is locked
 *   merge-tree --write-tree --stdin
 *                                 ends at an unknown revision, and buffers its answers (git 2.39) unless its
 *                                 output is unbuffered, which takes `stdbuf`
 */

import { type CommitId, brand } from '../kernel/ids.ts';
import type { RefMove } from './port.ts';
import { GitFailed, type GitOptions, startGit, tryGit, type TrustedDir } from './process.ts';
import { refuseLinkedRef } from './refs/linked-refs.ts';
import { findTip, moveRef } from './refs/refs.ts';
import { utf8 } from './output.ts';
import { type Measure, LongLivedProcess } from './long-lived-process.ts';
import { removePipes } from './run/pipes.ts';

/** Moves refs by compare-and-swap. */
export class RefWriter {
  readonly #dir: TrustedDir;
  readonly #process: LongLivedProcess;
  readonly #reason: string;
  readonly #nothing: string;

  constructor(dir: TrustedDir, reason = 'copse') {
    this.#dir = dir;
    this.#reason = reason;
    this.#nothing = '0'.repeat(dir.objectFormat === 'sha256' ? 64 : 40);
    this.#process = new LongLivedProcess({
      home: dir.home,
      start: () => startGit(dir, ['update-ref', '-m', reason, '-z', '--stdin']),
      expectedLastWords: /^fatal: /,
      onPipe: () => void removePipes(dir.commonDir),
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** `from` null: the ref must not exist. `to` null: the ref is deleted. */
  async move(ref: string, from: CommitId | null, to: CommitId | null): Promise<RefMove> {
    refuseLinkedRef(this.#dir.commonDir, ref, { isDeletion: to === null });
    const old = from ?? this.#nothing;
    const step = to === null ? `delete ${ref}\0${old}\0` : `update ${ref}\0${to}\0${old}\0`;
    const outcome = await this.#process.ask(`start\0${step}prepare\0commit\0`, wholeTransaction);
    if (outcome.answer !== undefined) return { kind: 'moved' };
    // Git may have died after it moved the ref. The ref's tip shows that, unless `from` and `to` are equal.
    const tip = (await findTip(this.#dir, ref)) ?? null;
    if (outcome.kind === 'died' && tip === to && from !== to && !outcome.stderr.startsWith('fatal: ')) {
      return { kind: 'moved' };
    }
    return moveRef(this.#dir, { ref, from, to, reason: this.#reason });
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}

const writers = new WeakMap<TrustedDir, RefWriter>();

/** One writer for Copse's own refs, which have no reflog. Branches are moved with a reason for the reflog. */
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
  | { readonly kind: 'clean'; readonly tree: string }
  /** The tree holds conflict markers. */
  | {
      readonly kind: 'conflicted';
      readonly tree: string;
      /** Every file in conflict, once, with one character per byte. */
      readonly files: readonly string[];
      readonly conflicts: readonly Conflict[];
    };

type MergerOptions = Pick<GitOptions, 'env' | 'workTree'>;

/** Merges two commits into a tree, without files and without moving a ref. */
export class Merger {
  readonly #dir: TrustedDir;
  readonly #options: MergerOptions;
  readonly #process: LongLivedProcess;

  /** With a work tree, the attributes in it apply. */
  constructor(dir: TrustedDir, options: MergerOptions = {}) {
    this.#dir = dir;
    this.#options = options;
    const argv = ['merge-tree', '--write-tree', '--stdin'];
    this.#process = new LongLivedProcess({
      home: dir.home,
      start: () => startGit(dir, argv, { ...options, isUnbuffered: true }),
      expectedLastWords: /not something we can merge|unrelated histories/,
      onPipe: () => void removePipes(dir.commonDir),
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async merge(ours: CommitId, theirs: CommitId): Promise<Merged> {
    const { answer } = await this.#process.ask(`${oneWord(ours)} ${oneWord(theirs)}\n`, wholeMerge);
    if (answer !== undefined) {
      const [status, ...fields] = answer.toString('latin1').split('\0');
      return merged(status === '1', fields);
    }
    const argv = ['merge-tree', '--write-tree', '-z', ours, theirs];
    const { code, stdout, stderr } = await tryGit(this.#dir, argv, this.#options);
    // A revision that does not exist also gives exit code 1, but no tree.
    if (code > 1 || stdout.length === 0) throw new GitFailed(argv, code, stderr);
    return parseMerged(code === 0, stdout);
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}

const wholeTransaction: Measure = (said) => {
  const last = 'commit: ok\n';
  const at = said.indexOf(last);
  return at === -1 ? { atLeast: said.length + 1 } : { whole: at + last.length };
};

/**
 * A status, a tree, and after a conflict the files and the messages; an empty field ends each list. After a conflict of
 * submodules, git 2.39 prints its advice into that last field.
 */
const wholeMerge: Measure = (said) => {
  const field = fieldsOf(said);
  const isConflict = field() === '0';
  field();
  if (isConflict) while (field()) continue;
  for (let count = field(); isCount(count); count = field()) {
    for (let skipped = 0; skipped < Number(count) + 2; skipped += 1) field();
  }
  const end = field.end();
  return end === undefined ? { atLeast: said.length + 1 } : { whole: end };
};

function isCount(field: string | undefined): field is string {
  return field !== undefined && /^\d+$/.test(field);
}

/** Reads one field after another; undefined at the end of the data. */
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

export function parseMerged(isClean: boolean, said: Buffer): Merged {
  return merged(isClean, said.toString('latin1').split('\0'));
}

function merged(isClean: boolean, [tree = '', ...rest]: readonly string[]): Merged {
  if (isClean) return { kind: 'clean', tree };
  const end = rest.indexOf('');
  const files = rest.slice(0, end).map((stage) => stage.slice(stage.indexOf('\t') + 1));
  if (files.length === 0) throw new Error('git merge-tree found a conflict and no path with one');
  const messages = rest.slice(end + 1);
  const conflicts: Conflict[] = [];
  for (let at = 0; isCount(messages[at]);) {
    const type = at + 1 + Number(messages[at]);
    const paths = messages.slice(at + 1, type).map(utf8);
    const message = utf8(messages[type + 1] ?? '').trimEnd();
    if (messages[type]?.startsWith('CONFLICT')) conflicts.push({ paths, type: messages[type], message });
    at = type + 2;
  }
  return { kind: 'conflicted', tree, files: [...new Set(files)], conflicts };
}

function oneWord(commit: CommitId): string {
  if (!/^\S+$/.test(commit)) throw new Error(`${JSON.stringify(commit)} is not the name of a commit.`);
  return brand<CommitId>(commit);
}
