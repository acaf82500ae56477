/** Repositories with worktrees, and what has to be true of them after any fault. */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { expect, onTestFinished } from 'vitest';

import { type Prepared, prepareWorkspace } from '../../../packages/copse/src/workspaces/act/prepare.ts';
import { type Removed, removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import { resetWorkspace } from '../../../packages/copse/src/workspaces/discard/reset.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { type Undone, undo } from '../../../packages/copse/src/workspaces/discard/undo.ts';
import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import { openWorkspaceContext } from '../../../packages/copse/src/compose/open.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import type { RemovalRequest } from '../../../packages/copse/src/workspaces/rules/removal.ts';
import { git, plainEnv } from '../cli.ts';
import { runGit } from '../git/git-shell.ts';
import { must } from '../records/tasks.ts';

// As the processes that are started here: git's settings are part of what Copse's git directory is made from.
Object.assign(process.env, plainEnv);

const force = { by: 'person', isNamed: true, isForced: true, deleteBranch: false } as const;

/** A repository with a few files, one of them ignored. */
export function newProject(folder: string, ...initOptions: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet', '--initial-branch=main', ...initOptions);
  fillProject(folder);
  return folder;
}

function fillProject(folder: string): void {
  mkdirSync(path.join(folder, 'src ü'), { recursive: true });
  writeFileSync(path.join(folder, '.gitignore'), 'ignored/\n*.log\n');
  writeFileSync(path.join(folder, 'tracked.txt'), 'first\n');
  writeFileSync(path.join(folder, 'src ü', 'one.txt'), 'one\n');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message=first');
}

/** A workspace context of one repository, with shorthands for what is done with one task. */
export class Project {
  readonly folder: string;
  readonly context: WorkspaceContext;

  private constructor(folder: string, context: WorkspaceContext) {
    this.folder = folder;
    this.context = context;
  }

  static async open(folder: string, settings: Partial<WorkspaceContext['settings']> = {}): Promise<Project> {
    const context = await openWorkspaceContext({ cwd: folder, env: plainEnv });
    return new Project(folder, { ...context, settings: { ...context.settings, ...settings } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.board.close();
  }

  async addTask(title = 'Do it'): Promise<TaskId> {
    return must(await addTask(this.context, { title })).id;
  }

  worktree(task: TaskId): string {
    return path.join(this.context.root, '.worktrees', task);
  }

  async tryPrepare(task: TaskId, onStep?: (step: string) => void): Promise<Prepared> {
    const record = await this.context.board.get('task', task);
    if (record === undefined) throw new Error(`There is no task ${task}`);
    return prepareWorkspace(this.context, {
      task: record,
      agent: null,
      session: null,
      ...(onStep && { onStep }),
    });
  }

  /** Telling every step; however it ends. */
  async act(act: 'prepare' | 'remove', task: TaskId, onStep: (step: string) => void): Promise<void> {
    if (act === 'prepare') await this.tryPrepare(task, onStep);
    else await removeWorkspace(this.context, task, { ...force, deleteBranch: true }, onStep);
  }

  async prepare(task: TaskId): Promise<Extract<Prepared, { kind: 'prepared' }>> {
    const prepared = await this.tryPrepare(task);
    if (prepared.kind !== 'prepared') throw new Error(`It was not prepared: ${prepared.reason}`);
    return prepared;
  }

  tryRemove(
    task: TaskId,
    request: Partial<Extract<RemovalRequest, { by: 'person' }>> = {},
  ): Promise<Removed> {
    return removeWorkspace(this.context, task, { ...force, ...request });
  }

  async remove(
    task: TaskId,
    request: Partial<Extract<RemovalRequest, { by: 'person' }>> = {},
  ): Promise<Extract<Removed, { kind: 'removed' }>> {
    const removed = await this.tryRemove(task, request);
    if (removed.kind !== 'removed') throw new Error(`It was not removed: ${JSON.stringify(removed)}`);
    return removed;
  }

  async undo(task: TaskId): Promise<Undone> {
    return must(await undo(this.context, task));
  }

  async reset(task: TaskId): Promise<void> {
    const record = await this.context.board.get('task', task);
    if (record === undefined) throw new Error(`There is no task ${task}`);
    const done = await this.context.git.tryLock(`task-${task}`, () => resetWorkspace(this.context, record));
    if (done === undefined) throw new Error('Somebody else has the lock');
    must(done.value);
  }

  run(task: TaskId, ...argv: readonly string[]): string {
    return git(this.worktree(task), ...argv);
  }
}

/** Something of every kind: a commit, staged, unstaged, untracked, executable, link, deleted, ignored. */
export function dirty(worktree: string, text = 'work'): void {
  const file = (...parts: readonly string[]) => path.join(worktree, ...parts);
  writeFileSync(file('committed.txt'), `${text} committed\n`);
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', `--message=${text}`);
  writeFileSync(file('staged.txt'), `${text} staged\n`);
  writeFileSync(file('tracked.txt'), `${text} staged and then changed\n`);
  git(worktree, 'add', '--all');
  writeFileSync(file('tracked.txt'), `${text} unstaged\n`);
  rmSync(file('src ü', 'one.txt'), { force: true });
  writeFileSync(file('new "ünï" file.txt'), `${text} untracked\n`);
  rmSync(file('a link'), { force: true });
  symlinkSync('tracked.txt', file('a link'));
  writeFileSync(file('tool.sh'), `#!/bin/sh\n# ${text}\n`, { mode: 0o755 });
  mkdirSync(file('ignored', 'deep'), { recursive: true });
  writeFileSync(file('ignored', 'deep', 'cache.bin'), `${text} ignored\n`);
  writeFileSync(file('debug.log'), `${text} log\n`);
}

/** Every file with mode and content, what is staged, and where HEAD is: two that are equal are the same to an agent. */
export function stateOf(worktree: string): Readonly<Record<string, string>> {
  return {
    ...filesIn(worktree),
    '(staged)': git(worktree, 'ls-files', '--stage'),
    '(status)': git(worktree, '--no-optional-locks', 'status', '--porcelain=v2', '--branch', '--ignored'),
  };
}

function filesIn(folder: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    // Copse's own folder and git's link are made anew.
    if (name === '.git' || name === '.copse' || name.startsWith('.copse/')) continue;
    const file = path.join(folder, name);
    const found = lstatSync(file);
    if (found.isDirectory()) continue;
    const content = found.isSymbolicLink() ? `-> ${readlinkSync(file)}` : readFileSync(file, 'latin1');
    files[name] = `${(found.mode & 0o777).toString(8)} ${content}`;
  }
  return files;
}

/** Everything that can still be found: in the worktrees, in the trash and behind any ref, as one text. */
export function everythingIn(folder: string): string {
  const texts: string[] = [];
  for (const place of ['.worktrees', path.join('.copse', 'trash')]) {
    const top = path.join(folder, place);
    if (existsSync(top)) texts.push(...Object.values(filesIn(top)));
  }
  const { stdout: list } = runGit({ cwd: folder, argv: ['rev-list', '--objects', '--all'] });
  const ids = list
    .toString('latin1')
    .split('\n')
    .map((line) => line.split(' ')[0])
    .join('\n');
  const { stdout: objects } = runGit({ cwd: folder, argv: ['cat-file', '--batch'], input: ids });
  return [...texts, list.toString('latin1'), objects.toString('latin1')].join('\n');
}

/** A worktree with something of every kind in it, and how it is. */
export async function prepareDirty(
  project: Project,
  task: TaskId,
): Promise<Readonly<Record<string, string>>> {
  await project.prepare(task);
  dirty(project.worktree(task), task);
  return stateOf(project.worktree(task));
}

/** The worktree is as a checkout of the base is. */
export async function expectFresh(project: Project, task: TaskId): Promise<void> {
  const { branch, path: folder } = await project.prepare(task);
  expect(git(folder, 'symbolic-ref', '--short', 'HEAD')).toBe(branch);
  expect(git(folder, 'status', '--porcelain')).toBe('');
  expect(git(folder, 'ls-files').split('\n')).toHaveLength(3);
  expect(git(folder, 'rev-parse', 'HEAD')).toBe(git(project.folder, 'rev-parse', 'main'));
}

/** Whether the last process removed it or not, it is removed now. */
export async function expectRemoved(project: Project, task: TaskId, point: string): Promise<void> {
  const removed = await project.tryRemove(task);
  if (removed.kind !== 'removed') expect([point, removed]).toEqual([point, NOTHING_LEFT]);
  const look = await project.context.git.look(project.worktree(task));
  expect([point, look]).toEqual([point, { state: 'absent', isRegistered: false }]);
}

const NOTHING_LEFT = expect.objectContaining({ reason: expect.stringContaining('has no worktree here') });

/** What `dirty` wrote. */
export function textsOf(task: string): readonly string[] {
  const kinds = ['committed', 'staged', 'unstaged', 'untracked', 'ignored', 'log'];
  return kinds.map((kind) => `${task} ${kind}\n`);
}

export function expectAllFound(folder: string, texts: readonly string[]): void {
  const everything = everythingIn(folder);
  expect(texts.filter((text) => !everything.includes(text))).toEqual([]);
}

/** Nothing is broken, nothing is left lying about, and git, the disk and Copse agree. */
export function expectSound(folder: string): void {
  const commonDir = path.resolve(folder, git(folder, 'rev-parse', '--git-common-dir'));
  // Dangling objects are what rescues and amended commits leave; anything else is damage.
  expect(git(folder, 'fsck', '--no-dangling', '--no-progress').trim()).toBe('');
  const listed = git(folder, 'worktree', 'list', '--porcelain', '-z')
    .split('\0\0')
    .filter((entry) => entry.includes('/.worktrees/'));
  for (const entry of listed) expect(entry).not.toContain('prunable');
  const paths = listed.map((entry) => /^worktree ([^\0]+)/.exec(entry)?.[1] ?? '').toSorted();
  const folders = existsSync(path.join(folder, '.worktrees'))
    ? readdirSync(path.join(folder, '.worktrees')).filter((name) => !name.startsWith('.'))
    : [];
  expect(paths).toEqual(folders.map((name) => path.join(folder, '.worktrees', name)).toSorted());
  for (const entry of listed) expect(entry).toContain('\0locked');
  expect(readdirSync(commonDir).filter((name) => name.startsWith('copse-new-'))).toEqual([]);
}

/** A new folder for every project of a test file. */
export function placesIn(area: string): () => string {
  let projects = 0;
  return () => path.join(area, `project ${(projects += 1)}`);
}

/** Closed with the test. */
export async function openForTest(folder: string): Promise<Project> {
  const project = await Project.open(folder);
  onTestFinished(() => project[Symbol.asyncDispose]());
  return project;
}

/** A project in this folder, a task of it that is prepared and dirty, and how its worktree is. */
export async function newDirty(folder: string, title?: string) {
  const project = await openForTest(newProject(folder));
  return { project, ...(await addDirty(project, title)) };
}

export async function addDirty(project: Project, title?: string) {
  const task = await project.addTask(title);
  const { path: worktree, branch } = await project.prepare(task);
  dirty(worktree, task);
  const gitDir = path.join(project.folder, '.git', 'worktrees', task);
  return { task, worktree, branch: branch ?? '', gitDir, before: stateOf(worktree) };
}

/** Every byte that was there is back after a removal and its undo. */
export async function expectBackAfterUndo(
  project: Project,
  task: TaskId,
  before: Readonly<Record<string, string>>,
): Promise<void> {
  await project.remove(task);
  expect(existsSync(project.worktree(task))).toBe(false);
  await project.undo(task);
  expect(stateOf(project.worktree(task))).toEqual(before);
  expectSound(project.folder);
}
