/** Worktrees in every condition, and what they look like byte for byte. */

import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import { excludeFromGit } from '../../../packages/copse/src/git/directory/exclude.ts';
import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openRescues } from '../../../packages/copse/src/workspaces/git/rescue/rescues.ts';
import type { TrustedDir } from '../../../packages/copse/src/git/process.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { Rescue, Rescues, SnapshotOutcome } from '../../../packages/copse/src/git/port.ts';
import { git, newRepository } from '../cli.ts';

export const task = brand<TaskId>('cp-w0rk');

export interface Site {
  readonly repository: string;
  readonly worktree: string;
  readonly dir: TrustedDir;
  readonly rescues: Rescues;
}

/** What most sites begin with. */
export const FILES = {
  'a.txt': 'one\n',
  'b/c.txt': 'two\n',
  'b/d.txt': 'three\n',
  'folder/inner.txt': 'four\n',
  'gone.txt': 'five\n',
  'run.sh': '#!/bin/sh\n',
};

/** A repository with these files committed, and a worktree of it. */
export function newSite(area: string, files: Readonly<Record<string, string | Buffer>> = {}): Site {
  const repository = newRepository(area);
  for (const [name, content] of Object.entries(files)) write(repository, name, content);
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--allow-empty', '--message=files');
  return siteAt(repository);
}

export function siteAt(repository: string): Site {
  const worktree = `${repository}.worktrees/a 'quoted' "név"`;
  git(repository, 'worktree', 'add', '--quiet', '-b', 'work', worktree);
  const found = findRepository(repository);
  if (!found) throw new Error(`${repository} is no repository`);
  excludeFromGit(found.commonDir, '/.copse/');
  const dir = openTrustedDir(found);
  return { repository, worktree, dir, rescues: openRescues(dir) };
}

let moment = Date.parse('2026-01-02T03:04:05.678Z');

export function snapshot({ rescues, worktree }: Site): Promise<SnapshotOutcome> {
  moment += 1;
  return rescues.snapshot({ task, worktree, why: 'removal', at: timestamp(moment) });
}

export async function saved(site: Site): Promise<Rescue> {
  const outcome = await snapshot(site);
  if (outcome.kind === 'nothing_to_save') throw new Error('nothing was saved');
  return outcome.rescue;
}

/** As a removal followed by a new start on the branch does it. */
export function makeAnew({ repository, worktree }: Site, branch = 'work'): void {
  git(repository, 'worktree', 'remove', '--force', '--force', worktree);
  git(repository, 'worktree', 'add', '--quiet', worktree, branch);
}

export async function comesBack(site: Site, rescue: Rescue): Promise<void> {
  const outcome = await site.rescues.restore(rescue, site.worktree);
  expect(outcome).toMatchObject({ kind: 'restored' });
}

export function write(folder: string, name: string, content: string | Buffer): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), content);
}

/** Type, mode and content of everything below a folder; `.git` is left out. */
export function manifest(folder: string): Readonly<Record<string, string>> {
  const entries = walk(Buffer.from(folder), '').filter(([name]) => name !== '.git');
  return Object.fromEntries(entries.map(([name, at]) => [name, describe(at)]));
}

/** The same with times, and with everything of the git directory: what a rescue must leave alone. */
export function everyByte({ worktree, repository }: Site): Readonly<Record<string, string>> {
  const gitDir = git(worktree, 'rev-parse', '--absolute-git-dir');
  const own = [...walk(Buffer.from(worktree), ''), ...walk(Buffer.from(gitDir), 'gitdir:')];
  const shared = ['config', 'HEAD', 'index', 'packed-refs', 'logs/HEAD', 'info/exclude']
    .map((name) => [`common:${name}`, Buffer.from(path.join(repository, '.git', name))] as const)
    .filter(([, at]) => lstatSync(at, { throwIfNoEntry: false }) !== undefined);
  const files = Object.fromEntries(
    [...own, ...shared].map(([name, at]) => [name, `${describe(at)} ${lstatSync(at).mtimeMs}`]),
  );
  const refs = git(
    repository,
    'for-each-ref',
    '--format=%(refname) %(objectname)',
    'refs/heads',
    'refs/tags',
  );
  return { ...files, refs };
}

function walk(folder: Buffer, prefix: string): readonly (readonly [string, Buffer])[] {
  return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' }).flatMap((entry) => {
    const at = Buffer.concat([folder, Buffer.from('/'), entry.name]);
    const name = `${prefix}${entry.name.toString('latin1')}`;
    return entry.isDirectory() ? walk(at, `${name}/`) : [[name, at] as const];
  });
}

function describe(at: Buffer): string {
  const found = lstatSync(at);
  if (found.isSymbolicLink()) return `link to ${readlinkSync(at, 'latin1')}`;
  if (!found.isFile()) return `special ${found.mode}`;
  const digest = createHash('sha256').update(readFileSync(at)).digest('hex');
  return `${(found.mode & 0o100) === 0 ? 'file' : 'program'} ${digest}`;
}
