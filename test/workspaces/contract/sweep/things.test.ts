/** A sweep with real git: what goes, what stays, and where the content of what went can be found. */

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { change } from '../../../../packages/copse/src/board/context.ts';
import {
  type AttemptId,
  type SessionId,
  type TaskId,
  brand,
} from '../../../../packages/copse/src/kernel/ids.ts';
import { decided } from '../../../../packages/copse/src/kernel/decision.ts';
import { claimTask } from '../../../../packages/copse/src/tasks/act/claims.ts';
import { deleteTasks } from '../../../../packages/copse/src/tasks/act/tasks.ts';
import { decideFail } from '../../../../packages/copse/src/tasks/rules/outcomes.ts';
import { undo } from '../../../../packages/copse/src/workspaces/discard/undo.ts';
import { previewSweep, sweep } from '../../../../packages/copse/src/workspaces/sweep/sweep.ts';
import type { TrashEntry } from '../../../../packages/copse/src/workspaces/ports/trash.ts';
import { git, newArea } from '../../../support/cli.ts';
import { claimant, must } from '../../../support/records/tasks.ts';
import { DAY, cancel, fatesOf, planned, sweeperOf } from '../../../support/workspaces/sweeps.ts';
import {
  type Project,
  addDirty,
  expectAllFound,
  expectSound,
  newProject,
  openForTest,
  textsOf,
} from '../../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;
const open = () => openForTest(newProject(path.join(area, `project ${(projects += 1)}`)));
const refs = ({ folder }: Project, prefix: string) =>
  git(folder, 'for-each-ref', '--format=%(refname)', prefix).split('\n').filter(Boolean);

async function claimed(project: Project, set: object = {}): Promise<TaskId> {
  const task = await project.addTask();
  await project.prepare(task);
  const { node } = project.context;
  must(await claimTask(project.context, task, { ...claimant(`se-${task}`), node, ...set }));
  return task;
}

// promise: sweep-only-proven
it('the worktree of a finished task goes after 7 days with everything saved, and what the dry run said is what happens', async () => {
  const project = await open();
  const [gone, young, working] = [await addDirty(project), await addDirty(project), await claimed(project)];
  await cancel(project, gone.task);
  const before = sweeperOf(project, { laterMs: 6 * DAY, set: { isOrchestrated: true } });
  expect(fatesOf(await sweep(before))).toEqual([]);
  const after = sweeperOf(project, { laterMs: 8 * DAY, set: { isOrchestrated: true } });
  const plan = await previewSweep(after);
  expect(existsSync(gone.worktree)).toBe(true);
  expect(planned(plan)).toContain(`worktree ${gone.task} goes`);
  const done = await sweep(after);
  expect(fatesOf(done)).toEqual(
    planned(plan)
      .filter((one) => one.endsWith('goes'))
      .map((one) => one.replace('goes', 'removed')),
  );
  const [one] = done?.swept ?? [];
  const [rescue] = one?.fate.kind === 'removed' ? one.fate.keptUnder : [];
  expect(rescue).toMatch(new RegExp(`^refs/copse/rescue/${gone.task}/`));
  expect(refs(project, 'refs/copse/rescue')).toEqual([rescue]);
  // Its commit did not land, so its branch stays.
  expect(refs(project, `refs/heads/${gone.branch}`)).toHaveLength(1);
  expect([
    existsSync(gone.worktree),
    existsSync(young.worktree),
    existsSync(project.worktree(working)),
  ]).toEqual([false, true, true]);
  expectAllFound(project.folder, textsOf(gone.task));
  expect(fatesOf(await sweep(after))).toEqual([]);

  // A person brings it back: it stays, although its task was cancelled long ago.
  must(await undo(after, gone.task));
  expect(existsSync(gone.worktree)).toBe(true);
  const at = (days: number) => sweeperOf(project, { laterMs: days * DAY, set: { isOrchestrated: true } });
  expect(fatesOf(await sweep(at(14)))).toEqual([]);
  expect(fatesOf(await sweep(at(16)))).toContain(`worktree ${gone.task} removed`);
  expectSound(project.folder);
});

// setting: maintenance.worktree_cleanup.prune_unmerged_branches
it('branches of finished tasks go if they are merged and have their own name; unmerged ones only if asked for, under a ref', async () => {
  const project = await open();
  const tasks = {
    merged: await project.addTask(),
    renamed: await project.addTask(),
    unmerged: await project.addTask(),
  };
  for (const task of Object.values(tasks)) {
    await project.prepare(task);
    if (task === tasks.unmerged) project.run(task, 'commit', '--quiet', '--allow-empty', '--message=mine');
    await cancel(project, task);
  }
  const tip = project.run(tasks.unmerged, 'rev-parse', 'HEAD');
  // The worktrees are gone and the branches are left, as after a kill.
  git(project.folder, 'branch', '--quiet', 'person', tip);
  for (const task of Object.values(tasks)) {
    const request = { by: 'person', isNamed: true, isForced: true, deleteBranch: false } as const;
    const branch = project.run(task, 'symbolic-ref', '--short', 'HEAD');
    const at = project.run(task, 'rev-parse', 'HEAD');
    await project.remove(task, request);
    if (refs(project, `refs/heads/${branch}`).length === 0)
      git(
        project.folder,
        'update-ref',
        '--create-reflog',
        '-m',
        `copse: ${task} begins`,
        `refs/heads/${branch}`,
        at,
      );
    if (task === tasks.renamed) git(project.folder, 'branch', '--move', branch, 'my-own-name');
  }
  const kinds = new Set(['branch'] as const);
  expect(fatesOf(await sweep(sweeperOf(project), { kinds }))).toEqual([`branch ${tasks.merged} removed`]);
  expect(refs(project, 'refs/heads')).toEqual([
    `refs/heads/${tasks.unmerged}/do-it`,
    'refs/heads/main',
    'refs/heads/my-own-name',
    'refs/heads/person',
  ]);

  const pruning = sweeperOf(project, { maintenance: { pruneUnmergedBranches: true } });
  const done = await sweep(pruning, { kinds });
  const [one] = done?.swept ?? [];
  const [kept = ''] = one?.fate.kind === 'removed' ? one.fate.keptUnder : [];
  expect(git(project.folder, 'rev-parse', kept)).toBe(tip);
  expect(refs(project, 'refs/heads')).toEqual([
    'refs/heads/main',
    'refs/heads/my-own-name',
    'refs/heads/person',
  ]);
});

it('a worktree without a lease for an hour is rescued and released; not one of a person, and not one that an orchestrator recovers', async () => {
  const project = await open();
  const agents = await claimed(project);
  const persons = await claimed(project, { isByHand: true });
  writeFileSync(path.join(project.worktree(agents), 'mine.txt'), 'only here\n');
  const soon = sweeperOf(project, { laterMs: 30 * 60_000 });
  expect(fatesOf(await sweep(soon))).toEqual([]);
  const later = { laterMs: 2 * 3_600_000 };
  const recovering = sweeperOf(project, { ...later, set: { isOrchestrated: true } });
  expect(fatesOf(await sweep(recovering))).toEqual([]);
  expect(fatesOf(await sweep(sweeperOf(project, later)))).toEqual([`worktree ${agents} removed`]);
  expect(existsSync(project.worktree(persons))).toBe(true);
  expectAllFound(project.folder, ['only here']);
  const [workspace] = await project.context.board.list('workspace', { task: agents });
  expect(workspace?.disposition.is).toBe('released');
});

it('the worktree of a failed task goes at once if its agent cleans up, rescued first, and its branch stays', async () => {
  const project = await open();
  const task = await claimed(project);
  writeFileSync(path.join(project.worktree(task), 'mine.txt'), 'only here\n');
  must(
    await change(project.context, async (change) => {
      const record = await change.require('task', task);
      await change.apply(decideFail(record, record.token, 'broken', change.at));
    }),
  );
  expect(fatesOf(await sweep(sweeperOf(project)))).toEqual([]);
  const cleaning = sweeperOf(project, { laterMs: 0, set: { cleanupOnFailure: () => true } });
  expect(fatesOf(await sweep(cleaning))).toEqual([`worktree ${task} removed`]);
  expectAllFound(project.folder, ['only here']);
});

it('a stale record of a finished task goes, with what was staged; that of a person stays', async () => {
  const project = await open();
  const task = await project.addTask();
  await project.prepare(task);
  writeFileSync(path.join(project.worktree(task), 'staged.txt'), 'only staged\n');
  project.run(task, 'add', 'staged.txt');
  await cancel(project, task);
  rmSync(project.worktree(task), { recursive: true });
  const persons = `${project.folder} of a person`;
  git(project.folder, 'worktree', 'add', '--quiet', '-b', 'person', persons);
  rmSync(persons, { recursive: true });
  const now = sweeperOf(project, { laterMs: 0 });
  expect(planned(await previewSweep(now))).toContain(`record ${persons} stays`);
  expect(fatesOf(await sweep(now))).toEqual([`worktree ${task} removed`]);
  expect(readdirSync(path.join(project.folder, '.git', 'worktrees'))).toHaveLength(1);
  expectAllFound(project.folder, ['only staged']);
});

/** With one attempt that ended. */
async function addEndedSession(project: Project, task: TaskId, attempt: AttemptId): Promise<void> {
  must(
    await change(project.context, async (change) => {
      const session = brand<SessionId>('se-done');
      const of = { id: attempt, at: change.at };
      const node = project.context.node;
      await change.apply(
        decided(
          {
            type: 'session.opened',
            id: session,
            at: change.at,
            task,
            agent: brand('ada'),
            workItem: null,
            follows: null,
            phase: 'working',
          },
          { type: 'attempt.started', ...of, session, task, node, token: 1 as never },
          { type: 'attempt.ended', ...of, reason: 'completed', exitCode: 0 },
        ),
      );
    }),
  );
}

it('logs, results and transcripts go by the age and the state of their task; of a task that the board never had, they stay', async () => {
  const project = await open();
  const [done, openTask, deleted] = [
    await project.addTask(),
    await project.addTask(),
    await project.addTask(),
  ];
  const unknown = brand<TaskId>('cp-9zzz');
  const inHome = (...names: readonly string[]) => path.join(project.folder, '.copse', ...names);
  const attempt = brand<AttemptId>('at-done');
  for (const task of [done, openTask, deleted, unknown]) {
    for (const kind of ['logs', 'artifacts']) mkdirSync(inHome(kind, task), { recursive: true });
    writeFileSync(inHome('logs', task, `${attempt}.jsonl`), '{}\n');
    writeFileSync(inHome('logs', task, `${attempt}.log`), 'log\n');
    writeFileSync(inHome('artifacts', task, 'report.pdf'), 'result\n');
  }
  symlinkSync(area, inHome('logs', 'cp-8zzz'));
  await addEndedSession(project, done, attempt);
  await cancel(project, done);
  must(await deleteTasks(project.context, [deleted], { unlink: true }));
  expect(fatesOf(await sweep(sweeperOf(project, { laterMs: 8 * DAY })))).toEqual(
    [`artifacts ${deleted} removed`, `logs ${deleted} removed`, `session ${done} removed`].toSorted(),
  );
  expect(readdirSync(inHome('logs', done))).toEqual([`${attempt}.log`]);
  expect(fatesOf(await sweep(sweeperOf(project)))).toEqual([`logs ${done} removed`]);
  // A transcript under the name of another task's attempt is not that session's.
  expect(readdirSync(inHome('logs')).toSorted()).toEqual(['cp-8zzz', openTask, unknown].toSorted());
  expect(readdirSync(inHome('artifacts')).toSorted()).toEqual([done, openTask, unknown].toSorted());
});

it('logs go without the transcripts beside them if sessions stay, and not while another process has the task', async () => {
  const project = await open();
  const task = await project.addTask();
  const attempt = brand<AttemptId>('at-done');
  const folder = path.join(project.folder, '.copse', 'logs', task);
  mkdirSync(folder, { recursive: true });
  for (const ending of ['jsonl', 'log']) writeFileSync(path.join(folder, `${attempt}.${ending}`), 'x\n');
  await addEndedSession(project, task, attempt);
  await cancel(project, task);
  const later = sweeperOf(project);
  const withoutSessions = { off: new Set(['session'] as const) };
  await later.git.tryLock(`task-${task}`, async () => {
    expect(fatesOf(await sweep(later, withoutSessions))).toEqual([`logs ${task} kept`]);
  });
  expect(fatesOf(await sweep(later, withoutSessions))).toEqual([`logs ${task} removed`]);
  expect(readdirSync(folder)).toEqual([`${attempt}.jsonl`]);
  // A folder with nothing but transcripts is a matter of the sessions.
  expect(fatesOf(await sweep(later, withoutSessions))).toEqual([]);
  expect(fatesOf(await sweep(later))).toEqual([`session ${task} removed`]);
  expect(fatesOf(await sweep(later))).toEqual([`logs ${task} removed`]);
  expect(existsSync(folder)).toBe(false);
});

it('a folder in the trash that cannot be read stays, and everything else goes', async () => {
  const project = await open();
  const [first, second] = [await addDirty(project), await addDirty(project)];
  for (const { task } of [first, second]) await cancel(project, task);
  await sweep(sweeperOf(project, { laterMs: 8 * DAY }));
  const broken = (await project.context.trash.all()).find(({ record }) => record.task === first.task);
  // The tests may run as root, who can read everything.
  const all = project.context.trash;
  const trash = {
    ...all,
    repositories: (entry: TrashEntry) => {
      if (entry.folder === broken?.folder) throw new Error('EACCES: permission denied');
      return all.repositories(entry);
    },
  };
  const fates = fatesOf(await sweep(sweeperOf(project, { set: { trash } })));
  expect(fates.filter((one) => one.startsWith('trash'))).toEqual([`trash ${second.task} removed`]);
});

// promise: disk-budget-safe
// setting: maintenance.max_disk
it('a disk budget takes logs and finished worktrees before their time, and neither open work nor files that only the trash has', async () => {
  const project = await open();
  const [finished, working, removed] = [
    await addDirty(project),
    await addDirty(project),
    await addDirty(project),
  ];
  await cancel(project, finished.task);
  await project.remove(removed.task);
  const maintenance = { maxDiskBytes: 1 };
  const early = sweeperOf(project, { laterMs: 60_000, maintenance });
  expect(fatesOf(await sweep(early))).toEqual([]);
  const done = await sweep(sweeperOf(project, { laterMs: 2 * 3_600_000, maintenance }));
  expect(fatesOf(done)).toEqual([`worktree ${finished.task} removed`]);
  expect(done?.budget?.leftBytes).toBeGreaterThan(1);
  expect(existsSync(working.worktree)).toBe(true);
  expectAllFound(
    project.folder,
    [finished, working, removed].flatMap(({ task }) => textsOf(task)),
  );
});

it('the trash goes after 7 days, but not a repository with work in it', async () => {
  const project = await open();
  const [plain, nested] = [await addDirty(project), await addDirty(project)];
  const inner = path.join(nested.worktree, 'ignored', 'inner');
  mkdirSync(inner);
  git(inner, 'init', '--quiet');
  writeFileSync(path.join(inner, 'mine.txt'), 'only in the inner one\n');
  for (const { task } of [plain, nested]) await project.remove(task);
  const week = sweeperOf(project, { laterMs: 8 * DAY });
  expect(fatesOf(await sweep(week))).toEqual([`trash ${plain.task} removed`]);
  expect(planned(await previewSweep(week))).toContain(`trash ${nested.task} stays`);
  expectAllFound(project.folder, ['only in the inner one']);
});

it('two sweeps at once: one does it, the other says so', async () => {
  const project = await open();
  const { task } = await addDirty(project);
  await cancel(project, task);
  const [one, other] = await Promise.all([sweep(sweeperOf(project)), sweep(sweeperOf(project))]);
  expect([fatesOf(one), fatesOf(other)].toSorted()).toEqual([['busy'], [`worktree ${task} removed`]]);
  expectSound(project.folder);
});

it('a worktree that the board does not know goes only if an hour has passed and nothing is in it', async () => {
  const project = await open();
  const task = brand<TaskId>('cp-9zzz');
  git(project.folder, 'worktree', 'add', '--quiet', '-b', 'stray', project.worktree(task));
  expect(fatesOf(await sweep(sweeperOf(project, { laterMs: 0 })))).toEqual([]);
  utimesSync(project.worktree(task), 1, 1);
  writeFileSync(path.join(project.worktree(task), 'mine.txt'), 'mine\n');
  utimesSync(project.worktree(task), 1, 1);
  expect(fatesOf(await sweep(sweeperOf(project)))).toEqual([]);
  rmSync(path.join(project.worktree(task), 'mine.txt'));
  expect(fatesOf(await sweep(sweeperOf(project)))).toEqual([`worktree ${task} removed`]);
});
