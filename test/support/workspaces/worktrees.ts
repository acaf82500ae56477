/** What the journeys of worktrees share: a repository with files, and every byte of a folder as one value. */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { openBoard } from '../../../packages/copse/src/board/open.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { decideCancel } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { contextOf } from '../board/boards.ts';
import { type RunOptions, type TaskDocument, answer, git, newRepository } from '../cli.ts';
import { must } from '../records/tasks.ts';

export interface WorkDocument {
  readonly task: string;
  readonly worktree: string;
  readonly branch: string;
  readonly base: string;
  readonly reused: boolean;
  readonly ports: readonly number[];
  readonly notes: readonly string[];
}

/** With a tracked file, an executable, a link, and rules for what is ignored. */
export function newProject(area: string): RunOptions & { readonly cwd: string } {
  const cwd = newRepository(area);
  writeFileSync(path.join(cwd, 'tracked ü.txt'), 'one\ntwo\n');
  writeFileSync(path.join(cwd, 'tool'), '#!/bin/sh\n');
  writeFileSync(path.join(cwd, '.gitignore'), '*.log\ncache/\n');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '--quiet', '--message=files');
  return { cwd };
}

export async function taken(title: string, at: RunOptions): Promise<WorkDocument> {
  const { id } = await answer<TaskDocument>(['add', title], at);
  return answer<WorkDocument>(['work', id], at);
}

/** One of every kind of thing that is easily lost. */
export function makeAMess(worktree: string): void {
  const at = (...names: readonly string[]) => path.join(worktree, ...names);
  writeFileSync(at('committed'), 'in a commit\n');
  git(worktree, 'add', '.');
  git(worktree, 'commit', '--quiet', '--message=mine');
  writeFileSync(at('staged'), 'staged\n');
  git(worktree, 'add', 'staged');
  writeFileSync(at('staged'), 'staged, then changed\n');
  writeFileSync(at('tracked ü.txt'), 'one\r\nTWO');
  chmodSync(at('tool'), 0o755);
  mkdirSync(at('new folder', '深い'), { recursive: true });
  writeFileSync(at('new folder', '深い', '"untracked" file'), 'nobody has seen this\n');
  writeFileSync(at('bytes'), Buffer.from([0, 255, 13, 10, 128, 0]));
  symlinkSync('tool', at('link'));
  symlinkSync('/nowhere/at all', at('dangling'));
  writeFileSync(at('build.log'), 'ignored\n');
  mkdirSync(at('cache', 'deep'), { recursive: true });
  writeFileSync(at('cache', 'deep', 'object'), Buffer.from([7, 0, 7]));
}

/** Every file with kind, executable bit and content, and what git says about them. */
export function everyByte(worktree: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(worktree, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(worktree, file);
    // Copse's own notes are about the session, not about the work.
    if (name === '.git' || name.startsWith('.copse')) continue;
    if (entry.isSymbolicLink()) found[name] = `link ${readlinkSync(file)}`;
    else if (entry.isFile()) {
      const isExecutable = (lstatSync(file).mode & 0o100) !== 0;
      const content = createHash('sha256').update(readFileSync(file)).digest('hex');
      found[name] = `${isExecutable ? 'executable' : 'file'} ${content}`;
    } else found[name] = 'folder';
  }
  return {
    ...found,
    '(status)': git(worktree, 'status', '--porcelain=v2', '--branch', '--ignored', '--untracked-files=all'),
    '(staged)': git(worktree, 'diff', '--cached'),
    '(not staged)': git(worktree, 'diff'),
    '(commits)': git(worktree, 'log', '--format=%H %D'),
  };
}

/** There is no command for this yet. */
export async function cancelTask({ cwd }: RunOptions, id: string): Promise<void> {
  const address = { engine: 'sqlite', file: path.join(cwd, '.copse', 'board.db') } as const;
  const board = await openBoard(address, defaultPolicy, { id: 'unused', at: 0 });
  must(
    await change(contextOf(board), async (change) => {
      const task = await change.require('task', id);
      await change.apply(decideCancel(task, undefined, null, change.at));
    }),
  );
  await board.close();
}

/** A task as a source of work items makes it. */
export async function newItemTask({ cwd }: RunOptions, source: string, item: string): Promise<string> {
  const folder = path.join(cwd, '.copse');
  mkdirSync(folder, { recursive: true });
  const address = { engine: 'sqlite', file: path.join(folder, 'board.db') } as const;
  const board = await openBoard(address, defaultPolicy, { id: 'board', at: 0 });
  const workItem = { source, id: item, url: null };
  const task = must(await addTask(contextOf(board), { title: `Item ${item} of ${source}`, workItem }));
  await board.close();
  return task.id;
}
