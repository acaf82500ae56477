/**
 * Gits that stay, for what the merge queue asks by the hundred: moving refs and merging; reading is in object-reader.ts.
 * Each answers as the plain command would, and where the process that stays cannot, the plain command is what answers.
 *
 *   update-ref --stdin            ends when a ref is not where it was expected to be, or is locked
 *   merge-tree --write-tree --stdin
 *                                 ends at a revision it does not know, and keeps its answers back (git 2.39) unless its
 *                                 output is unbuffered, which takes `stdbuf`
 */

import { type CommitId, brand } from '../kernel/ids.ts';
import type { RefMove } from './port.ts';
import { GitFailed, type GitOptions, startGit, tryGit, type TrustedDir } from './process.ts';
import { refuseLinkedRef } from './refs/linked-refs.ts';
import { findTip, moveRef } from './refs/refs.ts';
import { utf8 } from './output.ts';
import { type Measure, StandingProcess } from './standing-process.ts';

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
  | {
      readonly clean: false;
      readonly tree: string;
      /** Every file in conflict, once, with one character per byte. */
      readonly files: readonly string[];
      readonly conflicts: readonly Conflict[];
    };

type MergerOptions = Pick<GitOptions, 'env' | 'workTree'>;

/** Merges two commits into a tree, without files and without moving anything. */
export class Merger {
  readonly #dir: TrustedDir;
  readonly #options: MergerOptions;
  readonly #standing: StandingProcess;

  /** With a work tree, the attributes that lie in it count. */
  constructor(dir: TrustedDir, options: MergerOptions = {}) {
    this.#dir = dir;
    this.#options = options;
    const argv = ['merge-tree', '--write-tree', '--stdin'];
    this.#standing = new StandingProcess({
      start: () => startGit(dir, argv, { ...options, isUnbuffered: true }),
      expectedLastWords: /not something we can merge|unrelated histories/,
    });
  }

  get pid(): number | undefined {
    return this.#standing.pid;
  }

  async merge(ours: CommitId, theirs: CommitId): Promise<Merged> {
    const { answer } = await this.#standing.ask(`${oneWord(ours)} ${oneWord(theirs)}\n`, wholeMerge);
    if (answer !== undefined) {
      const [status, ...fields] = answer.toString('latin1').split('\0');
      return merged(status === '1', fields);
    }
    const argv = ['merge-tree', '--write-tree', '-z', ours, theirs];
    const { code, stdout, stderr } = await tryGit(this.#dir, argv, this.#options);
    // A revision that does not exist ends it with 1 as well, but without a tree.
    if (code > 1 || stdout.length === 0) throw new GitFailed(argv, code, stderr);
    return parseMerged(code === 0, stdout);
  }

  close(): Promise<void> {
    return this.#standing.close();
  }
}

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

export function parseMerged(clean: boolean, said: Buffer): Merged {
  return merged(clean, said.toString('latin1').split('\0'));
}

function merged(clean: boolean, [tree = '', ...rest]: readonly string[]): Merged {
  if (clean) return { clean, tree };
  const end = rest.indexOf('');
  const files = rest.slice(0, end).map((stage) => stage.slice(stage.indexOf('\t') + 1));
  if (files.length === 0) throw new Error('git merge-tree found a conflict and no path with one');
  const messages = rest.slice(end + 1);
  const conflicts: Conflict[] = [];
  for (let at = 0; at < messages.length && messages[at] !== '';) {
    const type = at + 1 + Number(messages[at]);
    const paths = messages.slice(at + 1, type).map(utf8);
    const message = utf8(messages[type + 1] ?? '').trimEnd();
    if (messages[type]?.startsWith('CONFLICT')) conflicts.push({ paths, type: messages[type], message });
    at = type + 2;
  }
  return { clean, tree, files: [...new Set(files)], conflicts };
}

function oneWord(commit: CommitId): string {
  if (!/^\S+$/.test(commit)) throw new Error(`${JSON.stringify(commit)} is not the name of a commit.`);
  return brand<CommitId>(commit);
}
