/** A sweep that is killed at any step is finished by the next; and a hostile agent gains nothing by it. */

import { spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { expect, it, onTestFinished, vi } from 'vitest';

import { removalSteps } from '../../../../packages/copse/src/workspaces/discard/remove.ts';
import { previewSweep, sweep } from '../../../../packages/copse/src/workspaces/sweep/sweep.ts';
import { type TaskId, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../../support/cli.ts';
import { isLong } from '../../../support/long.ts';
import { DAY, cancel, fatesOf, planned, sweeperOf } from '../../../support/workspaces/sweeps.ts';
import { runWorker } from '../../../support/workspaces/workspace-processes.ts';
import {
  type Project,
  addDirty,
  expectAllFound,
  expectSound,
  newProject,
  openForTest,
  textsOf,
} from '../../../support/workspaces/workspaces.ts';

vi.setConfig({ testTimeout: 120_000 });
const area = newArea();
const isRoot = process.getuid?.() === 0;
const OTHER_USER = 65_534;
let projects = 0;
const open = () => openForTest(newProject(path.join(area, `project ${(projects += 1)}`)));

const steps = [
  'finished_removals',
  'planned',
  ...removalSteps,
  'branch_kept',
  'branch_gone',
  'trash_checked',
  'trash_deleted',
  'logs_deleted',
];

/** One thing of each kind that goes 40 days later, and one task that is open. */
async function withThings() {
  const project = await open();
  const [gone, kept, removed, branched] = [
    await addDirty(project),
    await addDirty(project),
    await addDirty(project),
    await project.addTask(),
  ];
  await project.remove(removed.task);
  const { branch } = await project.prepare(branched);
  await project.remove(branched);
  git(
    project.folder,
    'update-ref',
    '--create-reflog',
    '-m',
    `copse: ${branched} begins`,
    `refs/heads/${branch}`,
    'HEAD',
  );
  for (const task of [gone.task, branched]) await cancel(project, task);
  const logs = path.join(project.folder, '.copse', 'logs', gone.task);
  mkdirSync(logs, { recursive: true });
  writeFileSync(path.join(logs, 'setup.log'), '');
  return { project, gone, kept, branched, branch, logs };
}

// promise: sweep-kill-safe
it.each(steps.filter((_, at) => isLong || at % 3 === 1))(
  'killed at %s, it is finished by the next one, and nothing is lost',
  async (step) => {
    const { project, gone, kept, branch, logs } = await withThings();
    const { folder } = project;
    const laterMs = 40 * DAY;
    const killed = await runWorker({ folder, task: gone.task, act: 'sweep', laterMs, kill: { step } });
    expect([step, killed.end]).toEqual([step, 'SIGKILL']);
    const again = await sweep(sweeperOf(project));
    expect([step, again?.swept.filter(({ fate }) => fate.kind !== 'removed')]).toEqual([step, []]);
    expect([step, fatesOf(await sweep(sweeperOf(project)))]).toEqual([step, []]);
    const [workspace] = await project.context.board.list('workspace', { task: gone.task });
    expect([step, existsSync(gone.worktree), existsSync(logs), workspace?.disposition.is]).toEqual([
      step,
      false,
      false,
      'released',
    ]);
    expect(existsSync(kept.worktree)).toBe(true);
    expect(git(folder, 'for-each-ref', `refs/heads/${branch}`)).toBe('');
    expectAllFound(folder, [...textsOf(gone.task), ...textsOf(kept.task)]);
    expectSound(folder);
  },
);

it('two processes that sweep at once remove each thing once', async () => {
  const { project, gone } = await withThings();
  const orders = { folder: project.folder, task: gone.task, act: 'sweep', laterMs: 40 * DAY } as const;
  const ends = await Promise.all([runWorker(orders), runWorker(orders)]);
  expect(ends.map(({ end }) => end)).toEqual([0, 0]);
  expect(ends.flatMap(({ said }) => said).filter(({ says }) => says === 'error')).toEqual([]);
  expect(fatesOf(await sweep(sweeperOf(project)))).toEqual([]);
  expectAllFound(project.folder, textsOf(gone.task));
  expectSound(project.folder);
});

const everything = (project: Project) =>
  sweep(sweeperOf(project, { maintenance: { pruneUnmergedBranches: true, maxDiskBytes: 0 } }));

// promise: sweep-only-proven
it('names and links that an agent plants lead a sweep to nothing of others', async () => {
  const project = await open();
  const { task } = await addDirty(project);
  await cancel(project, task);
  const outside = path.join(area, 'outside');
  mkdirSync(path.join(outside, 'cp-7zzz'), { recursive: true });
  writeFileSync(path.join(outside, 'cp-7zzz', 'mine.txt'), 'mine\n');
  utimesSync(path.join(outside, 'cp-7zzz'), 1, 1);
  const inHome = (...names: readonly string[]) => path.join(project.folder, '.copse', ...names);
  mkdirSync(inHome('logs'), { recursive: true });
  symlinkSync(path.join(outside, 'cp-7zzz'), inHome('logs', 'cp-7zzz'));
  symlinkSync(outside, inHome('artifacts'));
  // The name of a task, for a folder that is a person's.
  symlinkSync(outside, project.worktree(brand<TaskId>('cp-6zzz')));
  // A branch of a person, with a beginning that an agent forged, and with commits that are nowhere else.
  git(project.folder, 'branch', 'persons');
  const log = path.join(project.folder, '.git', 'logs', 'refs', 'heads', 'persons');
  const [first = ''] = readFileSync(log, 'utf8').split('\n');
  const tip = git(project.folder, 'commit-tree', '-m', 'only here', 'HEAD^{tree}');
  git(project.folder, 'update-ref', 'refs/heads/persons', tip);
  writeFileSync(log, `${first.replace(/\t.*/, `\tcopse: ${task} begins`)}\n`);
  // The branch of the target, too.
  const main = path.join(project.folder, '.git', 'logs', 'refs', 'heads', 'main');
  writeFileSync(main, readFileSync(main, 'utf8').replace(/\t.*/, `\tcopse: ${task} begins`));
  await everything(project);
  await everything(project);
  expect(readdirSync(outside)).toEqual(['cp-7zzz']);
  expect(readFileSync(path.join(outside, 'cp-7zzz', 'mine.txt'), 'utf8')).toBe('mine\n');
  expect(git(project.folder, 'rev-parse', 'refs/heads/main')).not.toBe('');
  expect(git(project.folder, 'rev-parse', 'refs/heads/persons')).toBe(tip);
  expectAllFound(project.folder, textsOf(task));
  rmSync(project.worktree(brand<TaskId>('cp-6zzz')));
  expectSound(project.folder);
});

it('a worktree that was exchanged for a link is not followed', async () => {
  const project = await open();
  const { task, worktree } = await addDirty(project);
  await cancel(project, task);
  const moved = `${worktree} moved`;
  renameSync(worktree, moved);
  symlinkSync(moved, worktree);
  await everything(project);
  expect(readFileSync(path.join(moved, 'committed.txt'), 'utf8')).toContain(task);
  expectAllFound(project.folder, [`${task} committed`]);
});

// promise: sweep-only-proven
it('a worktree with a process in it stays, and goes when the process has left', async () => {
  const project = await open();
  const { task, worktree } = await addDirty(project);
  await cancel(project, task);
  const shell = spawn('sleep', ['600'], { cwd: path.join(worktree, 'ignored'), stdio: 'ignore' });
  onTestFinished(() => void shell.kill('SIGKILL'));
  await new Promise((resolve) => shell.once('spawn', resolve));
  expect(fatesOf(await everything(project))).toEqual([]);
  expect(planned(await previewSweep(sweeperOf(project)))).toContain(`worktree ${task} stays`);
  const left = new Promise((resolve) => shell.once('exit', resolve));
  shell.kill('SIGKILL');
  await left;
  expect(fatesOf(await everything(project))).toEqual([`worktree ${task} removed`]);
});

it('a nested repository with work goes to the trash with its worktree, and stays there', async () => {
  const project = await open();
  const { task, worktree } = await addDirty(project);
  await cancel(project, task);
  const inner = path.join(worktree, 'ignored', 'inner');
  mkdirSync(inner);
  git(inner, 'init', '--quiet');
  writeFileSync(path.join(inner, 'mine.txt'), 'only in the inner one\n');
  expect(fatesOf(await everything(project))).toEqual([`worktree ${task} removed`]);
  await sweep(sweeperOf(project, { laterMs: 400 * DAY }));
  expectAllFound(project.folder, ['only in the inner one', ...textsOf(task)]);
});

// promise: rescue-failure-blocks
it('files that cannot be saved keep their worktree, and stop neither the rest of the sweep nor the next one', async () => {
  const project = await open();
  const [foreign, plain] = [await addDirty(project), await addDirty(project)];
  for (const { task } of [foreign, plain]) await cancel(project, task);
  const { rescues } = project.context;
  const snapshot: typeof rescues.snapshot = (request) =>
    request.task === foreign.task
      ? Promise.reject(new Error('foreign.txt cannot be read: it belongs to another user'))
      : rescues.snapshot(request);
  const done = await sweep(sweeperOf(project, { set: { rescues: { ...rescues, snapshot } } }));
  expect(fatesOf(done)).toEqual(
    [`worktree ${foreign.task} failed`, `worktree ${plain.task} removed`].toSorted(),
  );
  expect(existsSync(foreign.worktree)).toBe(true);
  expect(fatesOf(await everything(project))).toContain(`worktree ${foreign.task} removed`);
  expectAllFound(project.folder, [...textsOf(foreign.task), ...textsOf(plain.task)]);
});

it.runIf(isRoot)('files of another user go to the trash with their worktree', async () => {
  const project = await open();
  const { task, worktree } = await addDirty(project);
  await cancel(project, task);
  const file = path.join(worktree, 'foreign.txt');
  writeFileSync(file, 'of another user\n', { mode: 0o600 });
  chownSync(file, OTHER_USER, OTHER_USER);
  expect(fatesOf(await everything(project))).toEqual([`worktree ${task} removed`]);
  expectAllFound(project.folder, ['of another user', ...textsOf(task)]);
});
