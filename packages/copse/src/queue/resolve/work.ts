/** One conflict, and the ways to resolve it, one after another. */

import path from 'node:path';

import type { Timestamp } from '../../kernel/ids.ts';
import type { Commands } from '../../workspaces/ports/furnishing.ts';
import type { ConflictedMerge, Resolution } from '../ports/merging.ts';
import { git, gitLine } from '../../git/process.ts';
import { type GeneratedLimits, generatedKey, keepGenerated, recallGenerated } from './again.ts';
import { type MemoryLimits, resolveAsBefore } from './before.ts';
import { type ContentConflict, readConflict } from './conflict.ts';
import { type DriverCommand, type RunLine, findDrivers, runDriver } from './drivers.ts';
import { type GenerateRequest, type Generated, type NewFile, generateAnew, putFiles } from './generated.ts';
import { latin1, utf8 } from '../../git/byte-names.ts';
import { withScratch } from '../../git/worktrees/place.ts';
import type { TrustedDir } from '../../git/directory/trusted-dir.ts';

export interface ResolveSettings {
  /** By pattern. */
  readonly drivers: Readonly<Record<string, DriverCommand>>;
  /** By path. */
  readonly lockfiles: Readonly<Record<string, readonly string[]>>;
  readonly commands: Commands;
  readonly commandTimeoutMs: number;
  readonly memory: MemoryLimits & GeneratedLimits;
  readonly now: () => Timestamp;
}

export type Answer =
  | { readonly resolved: true; readonly files: readonly NewFile[]; readonly note: string }
  | { readonly resolved: false; readonly tried: readonly string[] };

export async function resolveOnce(
  dir: TrustedDir,
  settings: ResolveSettings,
  conflict: ConflictedMerge,
): Promise<Answer> {
  return withScratch(dir, async (scratch) => {
    const work = new Work(dir, settings, conflict, scratch);
    const left = await work.resolveContents();
    const isDone = left.length === 0 || (await work.generate(left));
    if (!isDone) return { resolved: false, tried: work.tried };
    return { resolved: true, files: work.resolved, note: work.notes.join('; ') };
  });
}

/** The tree of the conflict with the files as they were resolved. */
export async function writeResolution(
  dir: TrustedDir,
  { tree, env }: ConflictedMerge,
  { files, note }: Extract<Answer, { resolved: true }>,
): Promise<Resolution> {
  return withScratch(dir, async (scratch) => {
    const options = { env, index: path.join(scratch, 'index') };
    await git(dir, ['read-tree', tree], options);
    await putFiles(dir, files, options);
    const result = await gitLine(dir, ['write-tree'], options);
    return { tree: result, files: files.map(({ file }) => utf8(file)), note };
  });
}

/** By path, with one character per byte. */
export function generatedFiles(
  lockfiles: ResolveSettings['lockfiles'],
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(lockfiles).map(([file, lines]) => [latin1(path.posix.normalize(file)), lines]),
  );
}

class Work {
  readonly tried: string[] = [];
  readonly #dir: TrustedDir;
  readonly #settings: ResolveSettings;
  readonly #conflict: ConflictedMerge;
  readonly #scratch: string;
  readonly resolved: NewFile[] = [];
  readonly notes: string[] = [];

  constructor(dir: TrustedDir, settings: ResolveSettings, conflict: ConflictedMerge, scratch: string) {
    this.#dir = dir;
    this.#settings = settings;
    this.#conflict = conflict;
    this.#scratch = scratch;
  }

  /** By drivers and as before. What is left. */
  async resolveContents(): Promise<readonly (ContentConflict | undefined)[]> {
    const files = this.#conflict.files.map(latin1);
    const { drivers } = this.#settings;
    const { contents } = await readConflict(this.#dir, this.#scratch, this.#conflict, files);
    const found = await findDrivers(this.#dir, this.#scratch, drivers, files);
    const left: (ContentConflict | undefined)[] = [];
    const by = { driver: [] as string[], before: [] as string[] };
    for (const file of files) {
      const conflict = contents.get(file);
      const driver = found.get(file);
      const how = conflict && (await this.#resolveOne(conflict, driver));
      if (how === undefined) left.push(conflict);
      else by[how].push(utf8(file));
    }
    if (by.driver.length > 0) this.notes.push(`Resolved by merge driver: ${by.driver.join(', ')}`);
    if (by.before.length > 0) this.notes.push(`Resolved as before: ${by.before.join(', ')}`);
    return left;
  }

  async #resolveOne(
    conflict: ContentConflict,
    driver: DriverCommand | undefined,
  ): Promise<'driver' | 'before' | undefined> {
    const { file, mode } = conflict;
    if (driver !== undefined) {
      const called = { S: 'base', X: this.#conflict.onto, Y: this.#conflict.head };
      const driven = await runDriver(this.#scratch, conflict, driver, this.#run, called);
      if (driven.resolved) {
        this.resolved.push({ file, mode, content: driven.content });
        return 'driver';
      }
      this.tried.push(driven.reason);
    }
    // One that is written anew is better than one that was right for other files.
    if (this.#generated.has(file)) return undefined;
    const nowMs = this.#settings.now();
    const content = await resolveAsBefore(this.#dir, this.#scratch, conflict.marked, nowMs);
    if (content === undefined) return undefined;
    this.resolved.push({ file, mode, content });
    return 'before';
  }

  async generate(left: readonly (ContentConflict | undefined)[]): Promise<boolean> {
    const conflicts = left.filter((one) => one !== undefined);
    const commands = this.#generated;
    if (conflicts.length < left.length || conflicts.some(({ file }) => !commands.has(file))) return false;
    const { tree, env } = this.#conflict;
    const request = { tree, env, resolved: this.resolved, conflicts, commands };
    const generated = await this.#generateOnce(request);
    if (!generated.resolved) {
      this.tried.push(generated.reason);
      return false;
    }
    this.resolved.push(...generated.files);
    this.notes.push(
      `Written anew: ${conflicts.map(({ file }) => utf8(file)).join(', ')}`,
      ...generated.notes,
    );
    return true;
  }

  async #generateOnce(request: GenerateRequest): Promise<Generated> {
    const { memory, now } = this.#settings;
    const key = await generatedKey(this.#dir, this.#conflict.onto, request);
    const known = recallGenerated(this.#dir, key, now());
    if (known !== undefined) return known;
    const generated = await generateAnew(this.#dir, this.#scratch, request, this.#run);
    if (generated.resolved) keepGenerated(this.#dir, key, generated, memory, now());
    return generated;
  }

  get #generated(): ReadonlyMap<string, readonly string[]> {
    return generatedFiles(this.#settings.lockfiles);
  }

  readonly #run: RunLine = ({ line, env }, folder, name) =>
    this.#settings.commands.run({
      name,
      commands: [line],
      folder,
      // Git in there would find the repository around it, with all that agents configured. `CI` keeps programs from asking.
      env: { GIT_CEILING_DIRECTORIES: this.#scratch, CI: 'true', ...env },
      timeoutMs: this.#settings.commandTimeoutMs,
      logFolder: path.join(this.#dir.home, '.copse', 'logs', 'resolve'),
      leavesNothing: true,
    });
}
