/**
 * A throwaway object store in front of the repository's own. Merging writes here, and only what a candidate that somebody
 * needs is made of goes over: trial merges, the commits that stand in for a merge and candidates that nobody wanted leave
 * nothing behind.
 *
 *   write     in memory: most of it nobody but this process ever wants to see
 *   flush     into the throwaway store, as one pack, before a git of this process looks for it
 *   adopt     what a candidate is made of is held for as long as nobody brought it into the repository
 *   bring     a candidate, and those that it was built on, into the repository, and on the disk for good
 *
 * A few objects are brought one by one, contents before folders and folders before commits; many as one pack, which is there
 * as a whole or not at all. So whatever the repository has, it has everything that belongs to it, wherever somebody was
 * killed, and a walk may stop at the first thing that is not here.
 *
 * The folder is in memory where the system has a place for that, because most of the time that a merge takes is for creating
 * files. It is locked for as long as its process lives. What a killed one left is cleared away by the next.
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import type { CommitId } from '../../kernel/ids.ts';
import { alone } from '../../kernel/system/alone.ts';
import { deflated } from './deflated.ts';
import { tryFileLock } from '../lock.ts';
import { readLoose } from './loose.ts';
import type { GitObject } from './object-reader.ts';
import { type ObjectType, type PackEntry, isObjectType, packEntry, writePack } from './packs.ts';
import type { TrustedDir } from '../process.ts';

const PREFIX = 'copse-merging-';
/** Whoever has just made a folder has not locked it yet. */
const NEW_MS = 60_000;
/** In the repository a pack from here on, as git does it with what it is sent. */
const PACKED_FROM = 100;
/** In the throwaway store files of their own are fewer files up to here. */
const WORTH_A_PACK = 12;

interface Held extends GitObject {
  readonly type: ObjectType;
  /** As it stands in a pack, once somebody needed that. */
  entry?: PackEntry;
}

interface Candidate {
  readonly onto: CommitId | undefined;
  /** Contents before folders, folders before commits. */
  readonly ids: readonly string[];
}

export class Quarantine {
  /** Never changes, so that gits that stay can be told of it. */
  readonly folder: string;
  readonly objects: string;
  readonly store: string;
  readonly #dir: TrustedDir;
  #release: (() => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** What was written, and is part of no candidate yet. */
  readonly #written = new Map<string, Held>();
  /** Of candidates that are not in the repository. */
  readonly #held = new Map<string, Held>();
  readonly #candidates = new Map<CommitId, Candidate>();
  #heldBytes = 0;
  /** Where no git can see it. */
  readonly #unflushed = new Map<string, Held>();
  /** Where gits see it, whether or not it is remembered here. */
  readonly #flushed = new Set<string>();
  #packs = 0;

  constructor(dir: TrustedDir) {
    this.#dir = dir;
    const name = `${PREFIX}${process.pid}-${randomBytes(6).toString('hex')}`;
    this.folder = path.join(throwawayPlace(dir), name);
    this.objects = path.join(this.folder, 'objects');
    this.store = path.join(dir.commonDir, 'objects');
  }

  /** For a git that writes here and reads both. */
  get env(): Readonly<Record<string, string>> {
    return {
      GIT_OBJECT_DIRECTORY: this.objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(this.store),
    };
  }

  /** For a git that reads both. */
  get readingEnv(): Readonly<Record<string, string>> {
    return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(this.objects) };
  }

  /** How many packs gits have to look through. */
  get packs(): number {
    return this.#packs;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Made when something is first written, locked at once; and made again when somebody took it away, as systemd does with what
   * is in memory when its owner logs out. True when gits find nothing in it.
   */
  async open(): Promise<boolean> {
    if (this.#release !== undefined && existsSync(this.objects)) return false;
    this.#release?.();
    this.#startAnew();
    remove(this.folder);
    mkdirSync(path.dirname(this.folder), { recursive: true, mode: 0o700 });
    // It must not be there: somebody else could have made it, where everybody may.
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

  /** Candidates that nobody brought into the repository go with it. */
  close(): void {
    this.#release?.();
    this.#release = undefined;
    removeAtExit.delete(this.folder);
    remove(this.folder);
  }

  /** Everything on the disk goes. Nobody may be merging, and the gits that stay must not have begun before. */
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

  /** Whether it is here and perhaps not in the repository. */
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

  find(id: string): Held | undefined {
    return this.#held.get(id) ?? this.#written.get(id);
  }

  /** All of it, or only what is named. */
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

  /** What is part of no candidate. Nobody may be merging. */
  forget(): void {
    for (const id of this.#written.keys()) this.#unflushed.delete(id);
    this.#written.clear();
  }

  /** What gits wrote here is asked of `read`, and held like the rest. */
  async adopt(
    commit: CommitId,
    candidate: Candidate,
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
      if (held === undefined) throw new Error(`${lacking[at]} of the candidate ${commit} is gone.`);
      this.#hold(held);
    }
    this.#candidates.set(commit, candidate);
  }

  #hold(object: Held): void {
    this.#written.delete(object.id);
    if (this.#held.has(object.id)) return;
    this.#held.set(object.id, object);
    this.#heldBytes += object.content.length;
  }

  /** With all that it was built on. One that is in the repository already is left alone. Returns what is new there. */
  bring(commit: CommitId): Promise<readonly GitObject[]> {
    const brought = this.#turn.then(() => this.#bring(commit));
    this.#turn = brought.catch(() => {});
    return brought;
  }

  async bringAll(): Promise<void> {
    for (const commit of [...this.#candidates.keys()].toReversed()) await this.bring(commit);
  }

  async #bring(commit: CommitId): Promise<readonly GitObject[]> {
    const chain: CommitId[] = [];
    for (let at: CommitId | undefined = commit; at !== undefined && this.#candidates.has(at);) {
      chain.unshift(at);
      at = this.#candidates.get(at)?.onto;
    }
    const ids = new Set(chain.flatMap((one) => this.#candidates.get(one)?.ids ?? []));
    const objects = [...ids].flatMap((id) => this.#held.get(id) ?? []);
    if (objects.length >= PACKED_FROM)
      writePack(this.#dir, this.store, objects.map(entryOf), { isForGood: true });
    else await putAll(this.store, objects);
    for (const { id, content } of objects) {
      this.#held.delete(id);
      this.#unflushed.delete(id);
      this.#heldBytes -= content.length;
    }
    for (const one of chain) this.#candidates.delete(one);
    return objects;
  }
}

function entryOf(held: Held): PackEntry {
  return (held.entry ??= packEntry(held.id, held.type, held.content));
}

/** A copy: it would keep everything alive that came with the same answer. */
function asHeld(found: GitObject | undefined): Held | undefined {
  return found && isObjectType(found.type)
    ? { id: found.id, type: found.type, content: alone(found.content) }
    : undefined;
}

function wholeOf(type: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(head(type, content)), content]);
}

function head(type: string, content: Buffer): string {
  return `${type} ${content.length}\0`;
}

const removeAtExit = new Set<string>();
process.on('exit', () => removeAtExit.forEach(remove));

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function fileOf(objects: string, id: string): string {
  return path.join(objects, id.slice(0, 2), id.slice(2));
}

/** The disk is asked for all of them at a time: one after another, each would wait for it. */
async function putAll(store: string, objects: readonly Held[]): Promise<void> {
  const fresh: { readonly from: string; readonly to: string; readonly opened: number }[] = [];
  try {
    for (const { id, type, content } of objects) {
      const to = fileOf(store, id);
      mkdirSync(path.dirname(to), { recursive: true });
      const from = unusedBeside(to);
      const opened = openSync(from, 'wx', 0o444);
      fresh.push({ from, to, opened });
      writeFileSync(opened, deflated(wholeOf(type, content)));
    }
    await Promise.all(fresh.map(({ opened }) => toDisk(opened)));
    // One that is there already is replaced: it may be something else under this name, and its age would let it be
    // collected as garbage.
    for (const { from, to } of fresh) renameSync(from, to);
  } catch (error) {
    for (const { from } of fresh) rmSync(from, { force: true });
    throw error;
  } finally {
    for (const { opened } of fresh) closeSync(opened);
  }
}

/** Nobody else looks here before it is whole. */
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

/** A name that git itself clears away, should it ever be left behind. */
function unusedBeside(file: string): string {
  return path.join(path.dirname(file), `tmp_obj_${randomBytes(9).toString('hex')}`);
}

const toDisk = promisify(fsync);

/** What Linux has for what is to be in memory, with room for what merges leave until they are cleared up. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 512 * 1024 ** 2;

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

/** Those of processes that are gone, and that were this user's. */
async function clearAbandoned(parent: string, own: string): Promise<void> {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const folder = path.join(parent, name);
    if (!name.startsWith(PREFIX) || folder === own) continue;
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) continue;
    if (Date.now() - found.mtimeMs < NEW_MS) continue;
    const clear = () => Promise.resolve(remove(folder));
    // Another one may clear it away at this moment, and what cannot be is in nobody's way.
    await tryFileLock(path.join(folder, 'lock'), clear).catch(() => {});
  }
}

/** In a list of folders, a colon would end one. */
function quoted(folder: string): string {
  return `"${folder.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
