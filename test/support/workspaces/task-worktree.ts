/** A worktree that plain git made, known to a board as that of a task. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openGit } from '../../../packages/copse/src/git/repository.ts';
import type { TrustedDir } from '../../../packages/copse/src/git/process.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import { type CommitId, type NodeId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { contextOf, newPlace } from '../board/boards.ts';
import { git } from '../cli.ts';
import { must, newTask } from '../records/tasks.ts';

export const BRANCH = 'cp-0001/work';

export function write(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
}

/** All but what Copse has beside the files. */
export function commitAll(folder: string, message: string): string {
  git(folder, 'add', '--all', '--', ':!.worktrees', ':!.copse');
  git(folder, 'commit', '--quiet', '--message', message);
  return git(folder, 'rev-parse', 'HEAD');
}

export function trustedDirOf(main: string): TrustedDir {
  const found = findRepository(main);
  if (found === undefined) throw new Error(`${main} is no repository`);
  return openTrustedDir(found);
}

/** Close the place when it is over. */
export async function newTaskWorktree(main: string, worktree: string) {
  const place = await newPlace('sqlite');
  const board = await place.open();
  const task = await newTask(board, { title: 'Work' });
  const dir = trustedDirOf(main);
  const node = brand<NodeId>('no-1');
  const context = { ...contextOf(board), git: openGit(dir, defaultPolicy), node, target: undefined };
  const baseCommit = brand<CommitId>(git(main, 'rev-parse', 'main'));
  must(
    await change(context, (change) =>
      change.apply(
        decided({
          type: 'workspace.prepared',
          id: brand('ws-1'),
          at: change.at,
          task: task.id,
          node,
          strategy: 'git_worktree',
          worktree: { path: worktree, branch: brand(BRANCH), baseBranch: brand('main'), baseCommit },
        }),
      ),
    ),
  );
  return { context, dir, place, task, baseCommit };
}
