/** Calls of the operations on worktrees, for documents.test.ts. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { answer, git } from '../../support/cli.ts';
import type { Input } from '../../support/operations/perform.ts';
import { taken } from '../../support/workspaces/worktrees.ts';

interface Call {
  readonly argv: readonly string[];
  readonly input: Input;
}

const known = { changed: '', landed: '', rescue: '' };

/** A task that landed, one that was rescued, one with changes, and a file of the latter's agent in the main checkout. */
export async function prepareWorktrees(at: { readonly cwd: string }): Promise<void> {
  const landed = await taken('Landed', at);
  commit(landed.worktree, 'landed ü.txt');
  await answer(['finish', landed.task], at);
  await answer(['merge', landed.task], at);
  const rescued = await taken('Rescued', at);
  writeFileSync(path.join(rescued.worktree, 'only here'), 'rescued\n');
  await answer(['cleanup', rescued.task, '--force'], at);
  const { rescues } = await answer<Rescues>(['rescue', 'list', rescued.task], at);
  const changed = await taken('Changed', at);
  commit(changed.worktree, 'changed');
  writeFileSync(path.join(changed.worktree, 'not committed'), 'changed\n');
  writeFileSync(path.join(at.cwd, 'astray'), 'written by its agent\n');
  Object.assign(known, { changed: changed.task, landed: landed.task, rescue: rescues[0]?.ref });
}

interface Rescues {
  readonly rescues: readonly { readonly ref: string }[];
}

function commit(worktree: string, name: string): void {
  writeFileSync(path.join(worktree, name), 'a line\n');
  git(worktree, 'add', name);
  git(worktree, 'commit', '--quiet', `--message=${name}`);
}

export const readingWorktrees: Readonly<Record<string, () => readonly Call[]>> = {
  'worktree.list': () => [
    { argv: ['worktrees'], input: {} },
    { argv: ['worktrees', '--all', '--size'], input: { all: true, size: true } },
  ],
  'task.diff': () => [
    { argv: ['diff', known.changed], input: { task: known.changed } },
    {
      argv: ['diff', known.changed, '--uncommitted', '--stat'],
      input: { task: known.changed, uncommitted: true, withoutPatch: true },
    },
  ],
  'landing.preview_undo': () => [
    { argv: ['undo', known.landed, '--dry-run'], input: { task: known.landed } },
  ],
  'rescue.list': () => [{ argv: ['rescue', 'list'], input: {} }],
  'rescue.show': () => [{ argv: ['rescue', 'show', known.rescue], input: { rescue: known.rescue } }],
  'leftovers.list': () => [{ argv: ['sweep', '--dry-run'], input: {} }],
};

export const changingWorktrees: Readonly<Record<string, () => Call>> = {
  'task.work': () => ({
    argv: ['work', known.changed, '--resume'],
    input: { task: known.changed, existing: 'resume' },
  }),
  'worktree.sync': () => ({ argv: ['sync', known.changed], input: { task: known.changed } }),
  'rescue.move': () => ({
    argv: ['rescue', 'move', known.changed, 'astray'],
    input: { task: known.changed, paths: ['astray'] },
  }),
  'rescue.restore': () => ({
    argv: ['rescue', 'restore', known.rescue],
    input: { rescue: known.rescue },
  }),
  'worktree.cleanup': () => ({
    argv: ['cleanup', known.changed, '--yes'],
    input: { task: known.changed, unlanded: true },
  }),
  'worktree.undo': () => ({
    argv: ['undo', known.changed, '--worktree'],
    input: { task: known.changed },
  }),
  'landing.undo': () => ({ argv: ['undo', known.landed], input: { task: known.landed } }),
  'leftovers.sweep': () => ({ argv: ['sweep'], input: {} }),
};
