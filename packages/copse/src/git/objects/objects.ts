/**
 * Caches commits and trees, which never change. Packed objects are read through git; ids requested while git answers are
 * collected into the next request.
 *
 * The boundary of a shallow clone is not part of a commit: it is read from git's own file `shallow`. When that file changes,
 * cached commits are dropped.
 */

import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type CommitId, brand } from '../../kernel/ids.ts';
import { readLoose } from './loose.ts';
import { type Commit, parseCommit } from './commit-object.ts';
import { type GitObject, type ObjectFacts, type ObjectReader, objectsOf } from './object-reader.ts';
import { git, type TrustedDir } from '../process.ts';
import { RepositoryUnavailable } from '../unavailable.ts';
import { stampOfFile } from '../directory/trusted-dir.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { alone } from '../../kernel/system/alone.ts';

const MOST_COMMITS = defaultPolicy.objectMemory.commits;
const MOST_COMMIT_BYTES = defaultPolicy.objectMemory.commitBytes;
const MOST_TREE_BYTES = defaultPolicy.objectMemory.treeBytes;
/** Most branches have at most as many commits of their own. */
const LOOK_AHEAD = 4;
/** Memory that an entry takes besides its content. */
const OVERHEAD_BYTES = MOST_COMMIT_BYTES / MOST_COMMITS;

/** Where objects are looked for before git is asked. */
interface Places {
  /** Folders with loose objects, in the order of search. */
  readonly folders: readonly string[];
  /** Objects that are still in memory. `flush` writes them to files, where git finds them. */
  readonly quarantine?: {
    readonly find: (id: string) => GitObject | undefined;
    readonly flush: () => void;
    readonly readingEnv: Readonly<Record<string, string>>;
  };
}

type Waiting = PromiseWithResolvers<GitObject | undefined>;

export class Objects {
  readonly dir: TrustedDir;
  readonly reader: ObjectReader;
  readonly #commits = new RecentCache<CommitId, Commit>(
    MOST_COMMIT_BYTES,
    ({ message }) => OVERHEAD_BYTES + message.length,
  );
  readonly #trees: RecentCache<string, Buffer>;
  readonly #emptyTree: string;
  readonly #places: Places;
  readonly #waiting = new Map<string, Waiting>();
  #isAsking = false;
  #shallow: { readonly stamp: string; readonly commits: ReadonlySet<string> } | undefined;
  /** Commits that were not in the cache, since the start. Walks use it to measure their cost. */
  commitsRead = 0;

  constructor(dir: TrustedDir, reader: ObjectReader, places: Places) {
    this.dir = dir;
    this.reader = reader;
    this.#places = places;
    this.#trees = knownTreesOf(dir);
    this.#emptyTree =
      dir.objectFormat === 'sha256'
        ? '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'
        : '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  }

  async commit(id: CommitId): Promise<Commit> {
    const known = this.#commits.get(id);
    if (known !== undefined) return known;
    this.commitsRead += 1;
    const found = await this.#read(id);
    if (found?.type !== 'commit') throw missing('commit', id);
    return this.#remember(parseCommit(id, found.content));
  }

  /** Reads the commit, a few ancestors and their trees in one request, unless the commit can be read without git. */
  async lookAhead(id: CommitId): Promise<void> {
    const { folders, quarantine } = this.#places;
    if (this.#commits.get(id) ?? quarantine?.find(id) ?? readLoose(this.dir, folders, id)) return;
    const commits = Array.from({ length: LOOK_AHEAD }, (_, back) => `${id}~${back}`);
    const found = await this.reader.readAll([...commits, ...commits.map((commit) => `${commit}^{tree}`)]);
    for (const object of found) {
      if (object?.type === 'commit') {
        this.commitsRead += 1;
        this.#remember(parseCommit(brand(object.id), Buffer.from(object.content)));
      }
      if (object?.type === 'tree') this.#trees.set(object.id, alone(object.content));
    }
  }

  remember(id: CommitId, content: Buffer): void {
    this.#remember(parseCommit(id, content));
  }

  rememberTree(id: string, content: Buffer): void {
    this.#trees.set(id, alone(content));
  }

  #remember(parsed: Commit): Commit {
    const commit = this.#endsAt(parsed.id) ? { ...parsed, parents: [] } : parsed;
    this.#commits.set(commit.id, commit);
    return commit;
  }

  /** As git stores it: mode, name and id of one entry after another. */
  async tree(id: string): Promise<Buffer> {
    const known = this.#trees.get(id);
    if (known !== undefined) return known;
    if (id === this.#emptyTree) return NOTHING;
    const found = await this.#read(id);
    if (found?.type !== 'tree') throw missing('tree', id);
    // A copy: a slice would keep the whole answer in memory.
    const content = alone(found.content);
    this.#trees.set(id, content);
    return content;
  }

  async blob(id: string): Promise<Buffer> {
    const found = await this.#read(id);
    if (found?.type !== 'blob') throw missing('file', id);
    return found.content;
  }

  async facts(id: string): Promise<ObjectFacts | undefined> {
    const held = this.#places.quarantine?.find(id);
    if (held !== undefined) return { id, type: held.type, size: held.content.length };
    return (await this.reader.check([id]))[0];
  }

  /** Runs a git command that also sees the objects still in memory. */
  askGit(argv: readonly string[]): Promise<Buffer> {
    const { quarantine } = this.#places;
    quarantine?.flush();
    return git(this.dir, argv, quarantine === undefined ? {} : { env: quarantine.readingEnv });
  }

  /** Reads the boundary of a shallow clone again; call it before a walk. */
  lookAtShallow(): void {
    const file = path.join(this.dir.plain, 'shallow');
    const stamp = stampOfFile(file);
    if (this.#shallow?.stamp === stamp) return;
    const isFirst = this.#shallow === undefined;
    const commits = readIfPlain(file)?.split('\n') ?? [];
    this.#shallow = { stamp, commits: new Set(commits) };
    if (!isFirst) this.#commits.clear();
  }

  #endsAt(id: CommitId): boolean {
    if (this.#shallow === undefined) this.lookAtShallow();
    return this.#shallow?.commits.has(id) === true;
  }

  #read(id: string): Promise<GitObject | undefined> {
    const { folders, quarantine } = this.#places;
    const loose = quarantine?.find(id) ?? readLoose(this.dir, folders, id);
    if (loose !== undefined) return Promise.resolve(loose);
    const waiting = this.#waiting.get(id) ?? Promise.withResolvers<GitObject | undefined>();
    this.#waiting.set(id, waiting);
    if (!this.#isAsking) void this.#ask();
    return waiting.promise;
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    // Lets other callers of this tick join the request.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      try {
        const found = await this.reader.readAll(waiting.map(([id]) => id));
        for (const [at, [, { resolve }]] of waiting.entries()) resolve(found[at]);
      } catch (error) {
        for (const [, { reject }] of waiting) reject(error);
      }
    }
    this.#isAsking = false;
  }
}

const NOTHING = Buffer.alloc(0);

export class ObjectMissing extends RepositoryUnavailable {
  override readonly mayPass = true;
}

function missing(what: string, id: string): ObjectMissing {
  const reason = `The ${what} ${id} is no longer in the repository.`;
  return new ObjectMissing(reason, 'git fsck --connectivity-only # to see what else is missing');
}

const trees = new WeakMap<TrustedDir, RecentCache<string, Buffer>>();

/** One for all readers of a repository: merging and walking history need the same trees, and an id says what a tree holds. */
function knownTreesOf(dir: TrustedDir): RecentCache<string, Buffer> {
  const weigh = (tree: Buffer) => OVERHEAD_BYTES + tree.length;
  const shared = trees.get(dir) ?? new RecentCache<string, Buffer>(MOST_TREE_BYTES, weigh);
  trees.set(dir, shared);
  return shared;
}

const known = new WeakMap<TrustedDir, Objects>();

/** The cache that all callers of a repository share. */
export function knownObjectsOf(dir: TrustedDir): Objects {
  const store = path.join(dir.commonDir, 'objects');
  const objects = known.get(dir) ?? new Objects(dir, objectsOf(dir), { folders: [store] });
  known.set(dir, objects);
  return objects;
}
