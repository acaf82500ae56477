/** Conflicts in a real repository, and Copse's ways to resolve them without anybody. */

import { readFileSync } from 'node:fs';
import path from 'node:path';

import { openResolving } from '../../../packages/copse/src/queue/resolve/open.ts';
import type { ResolveSettings } from '../../../packages/copse/src/queue/resolve/resolver.ts';
import { runCommands } from '../../../packages/copse/src/workspaces/files/commands.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type {
  ConflictedMerge,
  Resolution,
  Resolving,
} from '../../../packages/copse/src/queue/ports/merging.ts';
import { git } from '../cli.ts';
import { runGit } from '../git/git-shell.ts';
import { MergeScene } from './merging.ts';

export type Settings = Partial<Omit<ResolveSettings, 'commands'>>;

export class ResolveScene extends MergeScene {
  settings: Settings = {};
  #resolving: Resolving | undefined;

  constructor(area: string) {
    const known: { scene?: ResolveScene } = {};
    super(area, { resolve: async (conflict) => known.scene?.resolving.resolve(conflict) });
    known.scene = this;
  }

  get resolving(): Resolving {
    this.#resolving ??= openResolving(this.dir, {
      drivers: {},
      lockfiles: {},
      commands: { run: runCommands },
      commandTimeoutMs: 60_000,
      memory: defaultPolicy.resolutions,
      now: () => timestamp(Date.now()),
      ...this.settings,
    });
    return this.#resolving;
  }

  /** As another process, which knows only what was written down. */
  restarted(settings: Settings = this.settings): void {
    this.settings = settings;
    this.#resolving = undefined;
  }

  /** What git makes of landing the branch on main, which has to be a conflict. */
  conflict(branch: string, target = 'main'): ConflictedMerge {
    const [onto, head] = [this.tip(target), this.tip(branch)];
    const argv = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', onto, head];
    const { status, stdout } = runGit({ cwd: this.top, argv });
    if (status !== 1) throw new Error(`${branch} does not conflict: ${status}`);
    const [tree = '', ...files] = stdout
      .toString()
      .split('\0')
      .filter((part) => part !== '');
    return { onto, head, tree, files: [...new Set(files)], env: {} };
  }

  resolve(branch: string): Promise<Resolution | undefined> {
    return this.resolving.resolve(this.conflict(branch));
  }

  /** A file of a tree or commit, byte for byte. */
  file(tree: string, name: string): string {
    const argv = ['cat-file', 'blob', `${tree}:${name}`];
    const { status, stdout, stderr } = runGit({ cwd: this.top, argv });
    if (status !== 0) throw new Error(stderr);
    return stdout.toString();
  }

  /** What differs between two trees. */
  differing(one: string, other: string): readonly string[] {
    const said = git(this.top, 'diff-tree', '-r', '--name-only', one, other);
    return said === '' ? [] : said.split('\n');
  }

  get memory(): string {
    return path.join(this.top, '.copse', 'resolutions');
  }
}

/** One that nobody has asked about since it ended is not at work. */
export function isAtWork(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
