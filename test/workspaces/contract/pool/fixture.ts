/** A repository with a pool of worktrees, and what plain git makes of the same branches. */

import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import { MANY_FILES } from '../../../../packages/copse/src/workspaces/git/pool/entries.ts';
import type { Refilled, Taken } from '../../../../packages/copse/src/workspaces/ports/pool.ts';
import { type Finished, finished, git, newRepository, plainEnv } from '../../../support/cli.ts';
import { bundleWorker } from '../../../support/agents/worker-program.ts';
import { type PoolJob, doJob } from './pool-worker.ts';

export interface Fixture {
  readonly repository: string;
  readonly trash: string;
  readonly old: string;
  readonly tip: string;
}

type Size = 'few files' | 'many files';

/** Repositories with one of everything, and a tip that changes, adds, removes and renames: made once in an area and then copied. */
export function fixturesIn(area: string): (size?: Size) => Fixture {
  const templates = new Map<Size, Omit<Fixture, 'trash'>>();
  let fixtures = 0;
  return (size = 'few files') => {
    const template = templates.get(size) ?? newTemplate(area, size);
    templates.set(size, template);
    fixtures += 1;
    const repository = path.join(area, `cöpy ${fixtures}`);
    cpSync(template.repository, repository, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
    // The index has the times and numbers of the files that were copied.
    git(repository, 'status');
    return { ...template, repository, trash: path.join(repository, '.copse', 'trash') };
  };
}

function newTemplate(area: string, size: Size): Omit<Fixture, 'trash'> {
  const repository = newRepository(area);
  const put = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(repository, name)), { recursive: true });
    writeFileSync(path.join(repository, name), text);
  };
  put('.gitignore', '*.log\n.env\nnode_modules/\n.worktrees/\n.copse/\n');
  put('.gitattributes', 'crlf.txt text eol=crlf\n');
  put('crlf.txt', 'one\ntwo\n');
  put('run me.sh', '#!/bin/sh\n');
  chmodSync(path.join(repository, 'run me.sh'), 0o755);
  put('src/deep/er/größe 林.ts', 'export {};\n');
  put('src/it\'s "quoted".ts', 'a\n');
  put('src/old.ts', 'old\n');
  put('same.txt', 'same\n');
  const more = size === 'many files' ? MANY_FILES : 0;
  for (let file = 0; file < more; file += 1) put(`many/${file % 10}/${file}.txt`, 'one of many\n');
  symlinkSync('same.txt', path.join(repository, 'a link'));
  git(repository, 'add', '--all');
  git(
    repository,
    'update-index',
    '--add',
    '--cacheinfo',
    `160000,${git(repository, 'rev-parse', 'HEAD')},module`,
  );
  git(repository, 'commit', '--quiet', '--message=files');
  const old = git(repository, 'rev-parse', 'HEAD');
  git(repository, 'mv', 'src/old.ts', 'src/new.ts');
  put('same.txt', 'changed\n');
  put('added/one.txt', 'added\n');
  git(repository, 'add', 'same.txt', 'added');
  git(repository, 'commit', '--quiet', '--message=tip');
  return { repository, old, tip: git(repository, 'rev-parse', 'HEAD') };
}

export const refill = (fixture: Fixture, size: number, base: string) =>
  doJob({ ...fixture, do: { refill: size, base } }) as Promise<Refilled>;

export function take(fixture: Fixture, name: string, tip = fixture.tip): Promise<Taken> {
  git(fixture.repository, 'branch', '--force', name, tip);
  return doJob({ ...fixture, do: { take: name, tip } }) as Promise<Taken>;
}

export function run(job: PoolJob): Promise<Finished> {
  const worker = bundleWorker(new URL('./pool-worker.ts', import.meta.url));
  const env = { ...plainEnv, ...worker.env };
  return finished(spawn(process.execPath, [worker.file, JSON.stringify(job)], { env }));
}

export const at = ({ repository }: Fixture, ...names: readonly string[]) =>
  path.join(repository, '.worktrees', ...names);

/** Everything in a folder but its `.git` file, with modes and bytes. */
export function contents(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== '.git')
    .toSorted()
    .map((name) => {
      const file = path.join(folder, name);
      const found = lstatSync(file);
      const what = found.isSymbolicLink()
        ? readlinkSync(file)
        : found.isFile()
          ? readFileSync(file, 'latin1')
          : '/';
      return `${name} ${(found.mode & 0o7777).toString(8)} ${what}`;
    });
}

/** What plain git makes of the same branch. */
export function expectLikePlainGit(fixture: Fixture, worktree: string, tip: string): void {
  const { dir, base } = path.parse(fixture.repository);
  const plain = path.join(dir, `plain ${base} ${path.basename(worktree)}`);
  git(fixture.repository, 'worktree', 'add', '--quiet', '--detach', plain, tip);
  expect(contents(worktree)).toEqual(contents(plain));
  expect(git(worktree, 'status', '--porcelain', '--ignored')).toBe('');
  expect(git(worktree, 'rev-parse', 'HEAD')).toBe(tip);
  expect(git(worktree, 'ls-files', '--stage', '-v')).toBe(git(plain, 'ls-files', '--stage', '-v'));
  git(worktree, 'fsck', '--connectivity-only');
}

/** Other bytes, and every time and size that can be set as it was. */
export function fake(file: string): void {
  const { atime, mtime, size } = lstatSync(file);
  writeFileSync(file, 'x'.repeat(size));
  utimesSync(file, atime, mtime);
}

export function plantInto(gitDir: string): void {
  writeFileSync(path.join(gitDir, 'config.worktree'), '[core]\n\tfsmonitor = touch /tmp/planted\n');
  for (const folder of ['hooks', 'rebase-merge', 'refs/bisect', 'info', 'logs']) {
    mkdirSync(path.join(gitDir, folder), { recursive: true });
    writeFileSync(path.join(gitDir, folder, 'planted'), 'x');
  }
}

/** A worktree of a task, moved to where the trash has it. */
export function removed(fixture: Fixture, files: string, dirty: (worktree: string) => void = () => {}): void {
  const worktree = at(fixture, 'cp-old');
  git(fixture.repository, 'worktree', 'add', '--quiet', '--detach', worktree, fixture.old);
  dirty(worktree);
  mkdirSync(path.dirname(files), { recursive: true });
  renameSync(worktree, files);
  renameSync(
    path.join(fixture.repository, '.git/worktrees/cp-old'),
    path.join(path.dirname(files), 'gitdir'),
  );
}
