/** A repository with a worktree, and what it takes to make that worktree ready. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { furnishingGit } from '../../../packages/copse/src/workspaces/files/furnish-git.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { workspaceFurnishing } from '../../../packages/copse/src/workspaces/files/furnish.ts';
import { type CommitId, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  FurnishReport,
  DismantleRequest,
  FurnishRequest,
  FurnishSettings,
  Furnishing,
} from '../../../packages/copse/src/workspaces/ports/furnishing.ts';
import { git, newRepository } from '../cli.ts';

export interface Fixture {
  readonly root: string;
  readonly worktree: string;
  readonly request: FurnishRequest & DismantleRequest;
  readonly furnishing: Furnishing;
  readonly furnish: (
    settings?: Partial<FurnishSettings>,
    more?: Partial<FurnishRequest>,
  ) => Promise<FurnishReport>;
}

export type Files = Readonly<Record<string, string>>;

/** Tracked files are committed before the worktree is made, the others are written to the main checkout only. */
export function newFixture(
  area: string,
  { tracked = {}, others = {} }: { readonly tracked?: Files; readonly others?: Files },
): Fixture {
  const root = newRepository(area);
  write(root, tracked);
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--allow-empty', '--message=files');
  return addWorktree(root, others);
}

export function addWorktree(root: string, others: Files = {}, name = 'cp-1'): Fixture {
  write(root, others);
  const worktree = path.join(root, '.worktrees', name);
  git(root, 'worktree', 'add', '--quiet', '--lock', '-b', `${name}/work`, worktree);
  const gitDir = path.join(root, '.git', 'worktrees', name);
  const head = brand<CommitId>(git(worktree, 'rev-parse', 'HEAD'));
  const request: FurnishRequest & DismantleRequest = {
    task: brand<TaskId>(name),
    source: { folder: root, gitDir: path.join(root, '.git') },
    target: { folder: worktree, gitDir },
    commit: head,
    base: head,
    sparse: [],
    home: root,
    settings: { copy: [], link: [], setup: null, teardown: null, commandTimeoutMs: 30_000 },
    never: [path.join(root, '.worktrees')],
    env: { COPSE_TASK_ID: name, COPSE_WORKTREE_PATH: worktree },
    isFresh: true,
    isAsBase: true,
    record: path.join(root, '.copse', 'furnished', `${name}.json`),
  };
  const dir = openTrustedDir({ commonDir: path.join(root, '.git'), home: root });
  const furnishing = workspaceFurnishing(furnishingGit(dir), { teardowns: () => teardownsIn(root) });
  return {
    root,
    worktree,
    request,
    furnishing,
    furnish: (settings = {}, more = {}) =>
      furnishing.furnish({ ...request, ...more, settings: { ...request.settings, ...settings } }),
  };
}

/** Beside the repository. */
export function teardownsIn(root: string): string {
  return path.join(path.dirname(root), 'teardowns');
}

export function write(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
