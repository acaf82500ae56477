/**
 * A temporary object store in front of the repository's own. Merging writes here, and only the objects of candidates that
 * are brought go to the repository: trial merges and unused candidates leave nothing behind.
 *
 *   write     keeps an object in memory: most are read by this process only
 *   flush     writes objects into the temporary store before a git of this process needs them
 *   adopt     holds the objects of a candidate until it is brought
 *   bring     writes a candidate, and those it was built on, into the repository and syncs them to the disk
 *   drop      forgets candidates that will not be brought, unless another one was built on them
 *
 * A few objects are brought one by one, blobs before trees and trees before commits; many as one pack, which appears whole
 * or not at all. So an object in the repository always has all objects that it refers to, also after a kill, and a walk
 * may stop at the first object that is not in this store.
 *
 * The folder is on a tmpfs if there is one, because creating files is most of the time of a merge. Its process holds a lock
 * on it. The next process deletes the folder of a killed one. When the tmpfs is full, the store goes on on the disk: whatever
 * failed is done again there.
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CommitId } from '../../kernel/ids.ts';
import { alone } from '../../kernel/system/alone.ts';
import { deflated } from './deflated.ts';
import { tryFileLock } from '../lock.ts';
import { readLoose } from './loose.ts';
import type { GitObject } from './object-reader.ts';
import { type ObjectType, type PackEntry, isObjectType, packEntry, writePack } from './packs.ts';
import { PACKED_FROM, fileOf, head, putAll, wholeOf } from './put.ts';
import type { TrustedDir } from '../process.ts';

const PREFIX = 'copse-merging-';
const NEW_MS = defaultPolicy.quarantine.newMs;
/** From so many objects on, the temporary store gets one pack. */
const WORTH_A_PACK = 12;

interface HeldObject extends GitObject {
  readonly type: ObjectType;
  /** Encoded for a pack, on first use. */
  entry?: PackEntry;
}

interface HeldCandidate {
  readonly onto: CommitId | undefined;
  /** Blobs before trees, trees before commits. */
  readonly ids: readonly string[];
}

export class Quarantine {
  readonly store: string;
  readonly #dir: TrustedDir;
  #folder: string;
  #release: (() => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Written objects that belong to no candidate yet. */
  readonly #written = new Map<string, HeldObject>();
  /** Objects of candidates that were not brought yet. */
  readonly #held = new Map<string, HeldObject>();
  readonly #candidates = new Map<CommitId, HeldCandidate>();
  #heldBytes = 0;
  /** Objects that are in memory only. */
  readonly #unflushed = new Map<string, HeldObject>();
  /** Objects in the temporary store, also those that are no longer in memory. */
  readonly #flushed = new Set<string>();
  #packs = 0;

  constructor(dir: TrustedDir) {
    this.#dir = dir;
    this.#folder = unusedIn(throwawayPlace(dir));
    this.store = path.join(dir.commonDir, 'objects');
  }

  /** The same until `moveToDisk`, after which gits that stay must be started anew. */
  get folder(): string {
    return this.#folder;
  }

  get objects(): string {
    return path.join(this.#folder, 'objects');
  }

  /** False when it is on the disk already. No merge may run. Objects that gits wrote and no candidate holds are lost. */
  moveToDisk(): boolean {
    const place = placeOnDisk(this.#dir);
    if (path.dirname(this.#folder) === place) return false;
    this.close();
    this.#folder = unusedIn(place);
    return true;
  }

  /** For a git that writes to this store and reads both. */
  get env(): Readonly<Record<string, string>> {
    return {
      GIT_OBJECT_DIRECTORY: this.objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(this.store),
    };
  }

  /** For a git that only reads, from both stores. */
  get readingEnv(): Readonly<Record<string, string>> {
    return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(this.objects) };
  }

  /** Every git searches all of them. */
  get packs(): number {
    return this.#packs;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Makes and locks the folder on first use, and again after it was deleted: systemd deletes a user's files in /dev/shm when
   * the user logs out. True when the folder is new, so that gits find nothing in it.
   */
  async open(): Promise<boolean> {
    if (this.#release !== undefined && existsSync(this.objects)) return false;
    this.#release?.();
    this.#startAnew();
    remove(this.folder);
    mkdirSync(path.dirname(this.folder), { recursive: true, mode: 0o700 });
    // Fails if the folder exists: another user can create one in /dev/shm.
    mkdirSync(this.folder, { mode: 0o700 });
    mkdirSync(this.objects, { mode: 0o700 });
    const released = new Promise<void>((resolve) => (this.#release = resolve));
    removeAtExit.add(this.folder);
    let isLocked = false;
    const lock = tryFileLock(path.join(this.folder, 'lock'), () => ((isLocked = true), released));
    if (!isLocked) await lock;
    for (const place of new Set([path.dirname(this.folder), placeOnDisk(this.#dir)]))
      await clearAbandoned(place, this.folder);
    return true;
  }

  /** Also discards candidates that were not brought. */
  close(): void {
    this.#release?.();
    this.#release = undefined;
    removeAtExit.delete(this.folder);
    remove(this.folder);
  }

  /** Deletes the files of the store. Requires that no merge runs and that long-lived gits are started anew afterwards. */
  empty(): void {
    this.forget();
    remove(this.objects);
    mkdirSync(this.objects, { recursive: true, mode: 0o700 });
    this.#startAnew();
  }

  #startAnew(): void {
    this.#flushed.clear();
    this.#packs = 0;
    for (const [id, held] of [...this.#held, ...this.#written]) this.#unflushed.set(id, held);
  }

  bytes(): number {
    let bytes = 0;
    for (const folder of existsSync(this.objects) ? readdirSync(this.objects) : [])
      for (const name of readdirSync(path.join(this.objects, folder)))
        bytes += statSync(path.join(this.objects, folder, name), { throwIfNoEntry: false })?.size ?? 0;
    return bytes;
  }

  /** Whether this store has the object; the repository may have it too. */
  has(id: string): boolean {
    return this.find(id) !== undefined || this.#flushed.has(id) || existsSync(fileOf(this.objects, id));
  }

  write(type: 'commit' | 'tree', content: Buffer): string {
    const id = createHash(this.#dir.objectFormat).update(head(type, content)).update(content).digest('hex');
    if (this.find(id) !== undefined) return id;
    const written = { id, type, content: alone(content) };
    this.#written.set(id, written);
    if (!this.#flushed.has(id)) this.#unflushed.set(id, written);
    return id;
  }

  find(id: string): HeldObject | undefined {
    return this.#held.get(id) ?? this.#written.get(id);
  }

  flush(ids: Iterable<string> = this.#unflushed.keys()): void {
    const objects = [...ids].flatMap((id) => this.#unflushed.get(id) ?? []);
    if (objects.length === 0) return;
    if (objects.length < WORTH_A_PACK) {
      for (const { id, type, content } of objects)
        writeOnce(fileOf(this.objects, id), wholeOf(type, content));
    } else {
      writePack(this.#dir, this.objects, objects.map(entryOf), { isForGood: false });
      this.#packs += 1;
    }
    for (const { id } of objects) {
      this.#flushed.add(id);
      this.#unflushed.delete(id);
    }
  }

  /** Drops objects that belong to no candidate. Requires that no merge runs. */
  forget(): void {
    for (const id of this.#written.keys()) this.#unflushed.delete(id);
    this.#written.clear();
  }

  /** Objects that gits wrote into the store are read by `read`. */
  async adopt(
    commit: CommitId,
    candidate: HeldCandidate,
    read: (ids: readonly string[]) => Promise<readonly (GitObject | undefined)[]>,
  ): Promise<void> {
    const lacking: string[] = [];
    for (const id of candidate.ids) {
      const found = this.find(id) ?? asHeld(readLoose(this.#dir, [this.objects], id));
      if (found === undefined) lacking.push(id);
      else this.#hold(found);
    }
    for (const [at, found] of (await read(lacking)).entries()) {
      const held = asHeld(found);
      if (held === undefined)
        throw new Error(`The object ${lacking[at]} of the candidate ${commit} is missing.`);
      this.#hold(held);
    }
    this.#candidates.set(commit, candidate);
  }

  #hold(object: HeldObject): void {
    this.#written.delete(object.id);
    if (this.#held.has(object.id)) return;
    this.#held.set(object.id, object);
    this.#heldBytes += object.content.length;
  }

  /** Brings the candidates it was built on first. Returns the objects that were written to the repository. */
  bring(commit: CommitId): Promise<readonly GitObject[]> {
    const brought = this.#turn.then(() => this.#bring(commit));
    this.#turn = brought.catch(() => {});
    return brought;
  }

  /** After the brings that were asked for before. */
  drop(commits: Iterable<CommitId>): Promise<void> {
    const dropped = this.#turn.then(() => this.#drop(new Set(commits)));
    this.#turn = dropped.catch(() => {});
    return dropped;
  }

  #drop(unwanted: Set<CommitId>): void {
    const wanted = [...this.#candidates.keys()].filter((commit) => !unwanted.has(commit));
    const needed = new Set(wanted.flatMap((commit) => this.#chainOf(commit)));
    const used = new Set([...needed].flatMap((commit) => this.#candidates.get(commit)?.ids ?? []));
    for (const [commit, { ids }] of this.#candidates) {
      if (needed.has(commit)) continue;
      this.#candidates.delete(commit);
      for (const id of ids) if (!used.has(id)) this.#letGo(id);
    }
  }

  #letGo(id: string): void {
    this.#heldBytes -= this.#held.get(id)?.content.length ?? 0;
    this.#held.delete(id);
    this.#unflushed.delete(id);
  }

  async bringAll(): Promise<void> {
    for (const commit of [...this.#candidates.keys()].toReversed()) await this.bring(commit);
  }

  async #bring(commit: CommitId): Promise<readonly GitObject[]> {
    const chain = this.#chainOf(commit);
    const ids = new Set(chain.flatMap((one) => this.#candidates.get(one)?.ids ?? []));
    const objects = [...ids].flatMap((id) => this.#held.get(id) ?? []);
    if (objects.length >= PACKED_FROM)
      writePack(this.#dir, this.store, objects.map(entryOf), { isForGood: true });
    else await putAll(this.store, objects);
    for (const { id } of objects) this.#letGo(id);
    for (const one of chain) this.#candidates.delete(one);
    return objects;
  }

  /** With the candidates it was built on, these first. */
  #chainOf(commit: CommitId): readonly CommitId[] {
    const chain: CommitId[] = [];
    for (let at: CommitId | undefined = commit; at !== undefined && this.#candidates.has(at);) {
      chain.unshift(at);
      at = this.#candidates.get(at)?.onto;
    }
    return chain;
  }
}

function unusedIn(place: string): string {
  return path.join(place, `${PREFIX}${process.pid}-${randomBytes(6).toString('hex')}`);
}

/** Of the throwaway store or of a git that wrote there. */
export function isOutOfSpace(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return (
    code === 'ENOSPC' ||
    code === 'EDQUOT' ||
    /No space left on device|Disk quota exceeded/.test(error.message)
  );
}

function entryOf(held: HeldObject): PackEntry {
  return (held.entry ??= packEntry(held.id, held.type, held.content));
}

/** Copies the content: a slice would keep the whole answer in memory. */
function asHeld(found: GitObject | undefined): HeldObject | undefined {
  return found && isObjectType(found.type)
    ? { id: found.id, type: found.type, content: alone(found.content) }
    : undefined;
}

const removeAtExit = new Set<string>();
process.on('exit', () => removeAtExit.forEach(remove));

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Not atomic: no other process reads this store before the write is complete. */
function writeOnce(file: string, whole: Buffer): void {
  if (existsSync(file)) return;
  const write = () => writeFileSync(file, deflated(whole), { mode: 0o444 });
  try {
    write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(path.dirname(file), { recursive: true });
    write();
  }
}

/** tmpfs, used if 512 MB are free. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = defaultPolicy.quarantine.roomBytes;

function throwawayPlace(dir: TrustedDir): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    accessSync(MEMORY, constants.W_OK);
    return bavail * bsize >= ROOM_BYTES ? MEMORY : placeOnDisk(dir);
  } catch {
    return placeOnDisk(dir);
  }
}

function placeOnDisk({ home }: TrustedDir): string {
  return path.join(home, '.copse', 'tmp');
}

/** Deletes folders of processes of this user that no longer run. */
async function clearAbandoned(parent: string, own: string): Promise<void> {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const folder = path.join(parent, name);
    if (!name.startsWith(PREFIX) || folder === own) continue;
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) continue;
    if (Date.now() - found.mtimeMs < NEW_MS) continue;
    const clear = () => Promise.resolve(remove(folder));
    // Another process may delete it at this moment. A folder that cannot be deleted does no harm.
    await tryFileLock(path.join(folder, 'lock'), clear).catch(() => {});
  }
}

/** A colon would separate two folders in git's variable. */
function quoted(folder: string): string {
  return `"${folder.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
