/** A repository with the object store of an attempt, and an agent that writes into it as it would inside a sandbox. */

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { layStore, openStores } from '../../../packages/copse/src/git/objects.ts';
import { type AttemptId, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newRepository } from '../cli.ts';
import { runGit } from './git-shell.ts';

/** Tests beside this one have attempts of their own: processes are found by the id of theirs. */
export const STORE = { task: brand<TaskId>('cp-a1b2'), attempt: brand<AttemptId>(`at-${process.pid}`) };
export const STORE_NAME = `${STORE.task}.${STORE.attempt}`;
export const BRANCH = 'refs/heads/cp-a1b2/work';

export class StoreScene {
  readonly folder: string;
  readonly objects: string;
  readonly store: string;
  readonly new: string;
  /** Of stores that Copse does not read. */
  readonly aside: string;

  constructor(area: string) {
    this.folder = newRepository(area);
    this.objects = path.join(this.folder, '.git', 'objects');
    this.store = path.join(this.folder, '.git', 'copse', 'objects', STORE_NAME);
    this.new = path.join(this.store, 'new');
    this.aside = path.join(this.folder, '.git', 'copse', 'set-aside');
    layStore(path.join(this.folder, '.git'), STORE);
  }

  get dir() {
    const found = findRepository(this.folder);
    if (!found) throw new Error('no repository');
    return openTrustedDir(found);
  }

  stores(onStep?: (step: string) => void, limits: { readonly mostObjects?: number } = {}) {
    return openStores(this.dir, { ...(onStep && { onStep }), ...limits });
  }

  close() {
    return this.stores().close(STORE);
  }

  /** As the agent, whose `objects` is the store. */
  inside(argv: readonly string[], input?: string | Buffer): string {
    const env = { GIT_OBJECT_DIRECTORY: this.new, GIT_ALTERNATE_OBJECT_DIRECTORIES: this.objects };
    const { status, stdout, stderr } = runGit({ cwd: this.folder, argv, env, input });
    if (status !== 0) throw new Error(stderr);
    return stdout.toString().trim();
  }

  /** A commit with these files, on the agent's branch. */
  commit(files: Readonly<Record<string, string | Buffer>>, parent = 'main'): string {
    const blobs = Object.entries(files).map(([name, content]) => {
      const blob = this.inside(['hash-object', '-w', '--stdin'], content);
      return `100644 blob ${blob}\t${name}\n`;
    });
    const below = this.inside(['mktree'], blobs.join(''));
    const tree = this.inside(['mktree'], `040000 tree ${below}\tfolder\n`);
    const commit = this.inside(['commit-tree', tree, '-p', parent, '-m', 'feat: inside']);
    // Its ref is written without a look at the repository's objects, as inside.
    mkdirSync(path.join(this.folder, '.git', path.dirname(BRANCH)), { recursive: true });
    writeFileSync(path.join(this.folder, '.git', BRANCH), `${commit}\n`);
    return commit;
  }

  fileOf(id: string): string {
    return path.join(this.new, id.slice(0, 2), id.slice(2));
  }

  /** Deletes what is there; git writes objects read-only. */
  put(id: string, content: string | Buffer): void {
    mkdirSync(path.dirname(this.fileOf(id)), { recursive: true });
    rmSync(this.fileOf(id), { force: true });
    writeFileSync(this.fileOf(id), content);
  }
}

/** By a person's git. */
export function expectSound({ folder, objects }: StoreScene): void {
  expect(git(folder, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  expect(git(folder, 'log', '--format=%s', BRANCH)).toBe('feat: inside\nfirst');
  expect(existsSync(path.join(objects, 'info', 'alternates'))).toBe(false);
}

export function expectClosed({ folder }: StoreScene): void {
  expect(readdirSync(path.join(folder, '.git', 'copse', 'objects'))).toEqual([]);
}
