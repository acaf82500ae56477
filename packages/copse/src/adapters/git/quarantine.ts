/**
 * A throwaway object store in front of the repository's own. Merging writes here, and only what a finished candidate is
 * made of goes over: trial merges, the commits that stand in for a merge and candidates that were refused leave nothing
 * behind.
 *
 * What goes over does so contents before folders and folders before commits. So whatever the repository has, it has
 * everything that belongs to it, wherever somebody was killed, and a walk may stop at the first thing that is not here.
 *
 * The folder is locked for as long as its process lives. What a killed one left is cleared away by the next.
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';

import { tryFileLock } from './lock.ts';
import type { GitObject } from './object-reader.ts';
import type { TrustedDir } from './trusted-dir.ts';

type Unwritten = GitObject & { readonly whole: Buffer };

const PREFIX = 'merging-';
/** Whoever has just made a folder has not locked it yet. */
const NEW_MS = 60_000;
/** Files that are open at the same time. */
const MOST_ON_THE_WAY = 256;

export class Quarantine {
  /** Never changes, so that gits that stay can be told of it. */
  readonly folder: string;
  readonly objects: string;
  readonly store: string;
  readonly #dir: TrustedDir;
  #release: (() => void) | undefined;
  #turn: Promise<void> = Promise.resolve();
  readonly #unwritten = new Map<string, Unwritten>();
  readonly #onTheWay = new Set<Promise<void>>();
  #failure: Error | undefined;

  constructor(dir: TrustedDir) {
    this.#dir = dir;
    const name = `${PREFIX}${process.pid}-${randomBytes(6).toString('hex')}`;
    this.folder = path.join(dir.home, '.copse', 'tmp', name);
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

  /** Made when something is first written, locked at once. */
  async open(): Promise<void> {
    if (this.#release !== undefined) return;
    mkdirSync(this.objects, { recursive: true, mode: 0o700 });
    const released = new Promise<void>((resolve) => (this.#release = resolve));
    removeAtExit.add(this.folder);
    let isLocked = false;
    const lock = tryFileLock(path.join(this.folder, 'lock'), () => ((isLocked = true), released));
    if (!isLocked) await lock;
    await clearAbandoned(path.dirname(this.folder), this.folder);
  }

  close(): void {
    this.#release?.();
    this.#release = undefined;
    removeAtExit.delete(this.folder);
    remove(this.folder);
  }

  /** Everything in it goes. Nobody may be merging, and the gits that stay must not have begun before. */
  empty(): void {
    this.forget();
    remove(this.objects);
    mkdirSync(this.objects, { recursive: true, mode: 0o700 });
  }

  bytes(): number {
    let bytes = 0;
    for (const folder of existsSync(this.objects) ? readdirSync(this.objects) : [])
      for (const name of readdirSync(path.join(this.objects, folder)))
        bytes += statSync(path.join(this.objects, folder, name), { throwIfNoEntry: false })?.size ?? 0;
    return bytes;
  }

  has(id: string): boolean {
    return this.#unwritten.has(id) || existsSync(fileOf(this.objects, id));
  }

  /** Nothing is on the disk yet: most of it nobody but this process ever wants to see. */
  write(type: 'commit' | 'tree', content: Buffer): string {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const id = createHash(this.#dir.objectFormat).update(whole).digest('hex');
    this.#unwritten.set(id, { id, type, content, whole });
    return id;
  }

  find(id: string): GitObject | undefined {
    return this.#unwritten.get(id);
  }

  /** To be called before a git looks for it. */
  flush(): void {
    for (const { id, whole } of this.#unwritten.values()) writeOnce(fileOf(this.objects, id), whole);
    this.#unwritten.clear();
  }

  /** What was not kept, and is on no disk. Nobody may be merging. */
  forget(): void {
    this.#unwritten.clear();
  }

  /** In this order, whoever keeps some of the same at the same time. It is for good once `settled` has returned. */
  keep(ids: Iterable<string>): Promise<void> {
    const kept = this.#turn.then(() => this.#keep(ids));
    this.#turn = kept.catch(() => {});
    return kept;
  }

  /** Before anything points at what was kept. Whoever builds one candidate on another need not wait for the disk each time. */
  async settled(): Promise<void> {
    await Promise.all(this.#onTheWay);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #keep(ids: Iterable<string>): Promise<void> {
    for (const id of new Set(ids)) {
      const [from, to] = [fileOf(this.objects, id), fileOf(this.store, id)];
      const unwritten = this.#unwritten.get(id);
      if (unwritten === undefined && !existsSync(from)) continue;
      mkdirSync(path.dirname(to), { recursive: true });
      this.#bringToDisk(unwritten === undefined ? take(from, to) : put(unwritten.whole, to));
      this.#unwritten.delete(id);
      if (this.#onTheWay.size >= MOST_ON_THE_WAY) await this.settled();
    }
  }

  /** Many at a time: one after another, each would wait for the disk. What the disk refused once is not believed later. */
  #bringToDisk(file: number): void {
    const done = toDisk(file)
      .catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => {
        closeSync(file);
        this.#onTheWay.delete(done);
      });
    this.#onTheWay.add(done);
  }
}

const removeAtExit = new Set<string>();
process.on('exit', () => removeAtExit.forEach(remove));

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function fileOf(objects: string, id: string): string {
  return path.join(objects, id.slice(0, 2), id.slice(2));
}

/**
 * One that is there already is replaced: it may be something else under this name, and its age would let it be collected
 * as garbage.
 */
function take(from: string, to: string): number {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const fresh = unusedBeside(to);
    copyFileSync(from, fresh);
    renameSync(fresh, to);
  }
  return openSync(to, 'r');
}

/** Both return it open, so that it can be brought to the disk. */
function put(whole: Buffer, to: string): number {
  const fresh = unusedBeside(to);
  const file = openSync(fresh, 'wx', 0o444);
  try {
    writeFileSync(file, deflateSync(whole, { level: 1 }));
    renameSync(fresh, to);
    return file;
  } catch (error) {
    closeSync(file);
    rmSync(fresh, { force: true });
    throw error;
  }
}

/** Nobody else looks here before it is whole. */
function writeOnce(file: string, whole: Buffer): void {
  if (existsSync(file)) return;
  const write = () => writeFileSync(file, deflateSync(whole, { level: 1 }), { mode: 0o444 });
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

/** Those of processes that are gone. */
async function clearAbandoned(parent: string, own: string): Promise<void> {
  for (const name of readdirSync(parent)) {
    const folder = path.join(parent, name);
    const found = statSync(folder, { throwIfNoEntry: false });
    if (!name.startsWith(PREFIX) || folder === own || found?.isDirectory() !== true) continue;
    if (Date.now() - found.mtimeMs < NEW_MS) continue;
    const clear = () => Promise.resolve(remove(folder));
    await tryFileLock(path.join(folder, 'lock'), clear);
  }
}

/** In a list of folders, a colon would end one. */
function quoted(folder: string): string {
  return `"${folder.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
