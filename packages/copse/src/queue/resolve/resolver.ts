/** Resolves one conflict: by merge drivers, by recorded resolutions, then by commands that regenerate files. */

import path from 'node:path';

import type { Timestamp } from '../../kernel/ids.ts';
import type { Commands } from '../../workspaces/ports/furnishing.ts';
import type { ConflictedMerge, Resolution } from '../ports/merging.ts';
import { git, gitLine, type TrustedDir } from '../../git/process.ts';
import { type MemoryLimits, resolveAsBefore } from './rerere.ts';
import { type ContentConflict, readConflict } from './conflict.ts';
import { type DriverCommand, type RunLine, findDrivers, runDriver } from './drivers.ts';
import {
  type GenerateRequest,
  type Generated,
  type GeneratedLimits,
  type NewFile,
  generate,
  generatedKey,
  keepGenerated,
  putFiles,
  recallGenerated,
} from './generated.ts';
import { latin1, utf8 } from '../../git/output.ts';
import { withScratch } from '../../git/worktrees/place.ts';

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

export type ResolveOutcome =
  | { readonly kind: 'resolved'; readonly files: readonly NewFile[]; readonly note: string }
  /** One sentence for each failed attempt. */
  | { readonly kind: 'unresolved'; readonly tried: readonly string[] };

export async function resolveOnce(
  dir: TrustedDir,
  settings: ResolveSettings,
  conflict: ConflictedMerge,
): Promise<ResolveOutcome> {
  return withScratch(dir, async (scratch) => {
    const resolver = new ConflictResolver(dir, settings, conflict, scratch);
    const left = await resolver.resolveContents();
    const isDone = left.length === 0 || (await resolver.generate(left));
    if (!isDone) return { kind: 'unresolved', tried: resolver.tried };
    return { kind: 'resolved', files: resolver.resolved, note: resolver.notes.join('; ') };
  });
}

/** Writes the tree of the conflict with the resolved files. */
export async function writeResolution(
  dir: TrustedDir,
  { tree, env }: ConflictedMerge,
  { files, note }: Extract<ResolveOutcome, { kind: 'resolved' }>,
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

class ConflictResolver {
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

  /** Applies drivers and recorded resolutions. Returns the conflicts that are left. */
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
      if (driven.kind === 'resolved') {
        this.resolved.push({ file, mode, content: driven.content });
        return 'driver';
      }
      this.tried.push(driven.reason);
    }
    // A regenerated file is better than a resolution that was right for other files.
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
    if (generated.kind === 'failed') {
      this.tried.push(generated.reason);
      return false;
    }
    this.resolved.push(...generated.files);
    this.notes.push(`Regenerated: ${conflicts.map(({ file }) => utf8(file)).join(', ')}`, ...generated.notes);
    return true;
  }

  async #generateOnce(request: GenerateRequest): Promise<Generated> {
    const { memory, now } = this.#settings;
    const key = await generatedKey(this.#dir, this.#conflict.onto, request);
    const known = recallGenerated(this.#dir, key, now());
    if (known !== undefined) return known;
    const generated = await generate(this.#dir, this.#scratch, request, this.#run);
    if (generated.kind === 'generated') keepGenerated(this.#dir, key, generated, memory, now());
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
      // Without the ceiling, git would find the repository around the folder and use its configuration. `CI` stops programs
      // from asking questions.
      env: { GIT_CEILING_DIRECTORIES: this.#scratch, CI: 'true', ...env },
      timeoutMs: this.#settings.commandTimeoutMs,
      logFolder: path.join(this.#dir.home, '.copse', 'logs', 'resolve'),
      leavesNothing: true,
    });
}
