/** A task from its first words to the undoing of its landing. */

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import { answer, git } from '../../support/cli.ts';
import type { Step, StepsOf } from './step.ts';
import { shownTask } from './world.ts';

interface Listed {
  readonly tasks: readonly { readonly id: string; readonly title: string; readonly status: string }[];
}

export const lifeOfATask: StepsOf = ({ cwd, addItem }, way): readonly Step[] => {
  const at = { cwd };
  const known = { plan: '', task: '', worktree: '', head: '', artifact: '' };
  const task = () => ({ task: known.task });
  const tasks = () => ({ tasks: known.task });
  const status = async (wanted: string) =>
    expect(await shownTask(known.task, cwd)).toMatchObject({ status: wanted });
  const find = async (title: string) => {
    const { tasks: all } = await answer<Listed>(['list', '--all'], at);
    return all.find((one) => one.title === title) ?? expect.fail(`no task ${title}`);
  };
  const queue = async () =>
    (await answer<{ queues: readonly Queue[] }>(['queue', '--target', 'main'], at)).queues[0];
  return [
    {
      name: 'plan.add',
      fields: () => ({ title: `Plan by ${way}`, body: 'Why' }),
      async after() {
        const { plans } = await answer<{ plans: readonly { id: string; title: string }[] }>(
          ['plan', 'list'],
          at,
        );
        known.plan = plans.find(({ title }) => title === `Plan by ${way}`)?.id ?? '';
        expect(known.plan).not.toBe('');
      },
    },
    { name: 'plan.list', shows: () => `Plan by ${way}` },
    { name: 'plan.show', fields: () => ({ plan: known.plan }), shows: () => `Plan by ${way}` },
    {
      name: 'task.add',
      fields: () => ({
        title: `It's by ${way}`,
        body: 'All of it',
        priority: 'p4',
        areas: 'src/**',
        plan: known.plan,
      }),
      async after() {
        known.task = (await find(`It's by ${way}`)).id;
        expect(await shownTask(known.task, cwd)).toMatchObject({
          body: 'All of it',
          priority: 'p4',
          areas: ['src/**'],
          plan: known.plan,
        });
      },
    },
    {
      name: 'task.edit',
      fields: () => ({ ...task(), title: `Done by ${way}`, priority: 'p5' }),
      async after() {
        expect(await shownTask(known.task, cwd)).toMatchObject({ title: `Done by ${way}`, priority: 'p5' });
      },
    },
    { name: 'task.list', fields: () => ({ plan: known.plan }), shows: () => known.task },
    { name: 'task.show', fields: task, shows: () => `Done by ${way}` },
    { name: 'task.why', fields: task, shows: () => known.task },
    { name: 'board.status', shows: () => '' },
    {
      name: 'task.work',
      fields: task,
      async after() {
        await status('in_progress');
        const { worktrees } = await answer<Worktrees>(['worktrees'], at);
        known.worktree = worktrees.find((one) => one.task === known.task)?.worktree ?? '';
        writeFileSync(path.join(known.worktree, `${known.task}.txt`), 'new\n');
        git(known.worktree, 'add', '.');
        git(known.worktree, 'commit', '--quiet', '--message=feat: new');
        addItem(`Moves main on for ${way}`);
      },
    },
    {
      name: 'worktree.sync',
      fields: task,
      after: () => expect(git(known.worktree, 'log', '--format=%s')).toContain(`Moves main on for ${way}`),
    },
    { name: 'worktree.list', shows: () => known.task },
    { name: 'task.diff', fields: task, shows: () => `${known.task}.txt` },
    { name: 'radar.show', fields: task },
    {
      name: 'ledger.add',
      fields: () => ({ kind: 'learning', text: `Learnt by ${way}`, ...task() }),
      async after() {
        const { ledger } = await shownTask(known.task, cwd);
        expect(ledger).toMatchObject([{ kind: 'learning', text: `Learnt by ${way}` }]);
      },
    },
    { name: 'ledger.list', fields: task, shows: () => `Learnt by ${way}` },
    {
      name: 'artifact.add',
      fields: () => ({ file: 'report.txt', title: `Report by ${way}`, ...task() }),
      async after() {
        const { artifacts } = await answer<{ artifacts: readonly { id: string }[] }>(
          ['artifact', 'list', known.task],
          at,
        );
        known.artifact = artifacts[0]?.id ?? '';
        expect(artifacts).toMatchObject([{ title: `Report by ${way}` }]);
      },
    },
    { name: 'artifact.list', fields: task, shows: () => `Report by ${way}` },
    { name: 'artifact.show', fields: () => ({ artifact: known.artifact }), shows: () => `Report by ${way}` },
    { name: 'artifact.content', fields: () => ({ artifact: known.artifact }) },
    {
      name: 'task.finish',
      fields: () => ({ ...task(), summary: `Finished by ${way}` }),
      after: () => status('in_review'),
    },
    { name: 'inbox.list', shows: () => known.task },
    { name: 'review.list', shows: () => known.task },
    { name: 'review.show', fields: task, shows: () => `${known.task}.txt` },
    {
      name: 'review.approve',
      fields: () => ({ ...task(), head: git(known.worktree, 'rev-parse', 'HEAD').slice(0, 10) }),
      after: () => status('landing'),
    },
    {
      name: 'queue.front',
      fields: tasks,
      async after() {
        expect((await queue())?.entries).toMatchObject([{ task: known.task, isHotfix: true }]);
      },
    },
    { name: 'queue.list', fields: () => ({ target: 'main' }), shows: () => known.task },
    {
      name: 'queue.cancel',
      fields: () => ({ ...tasks(), reason: 'Not now' }),
      after: () => status('in_review'),
    },
    { name: 'queue.retry', fields: tasks, after: () => status('landing') },
    {
      name: 'queue.pause',
      fields: () => ({ accept: true, reason: `Release by ${way}`, target: 'main' }),
      async after() {
        expect((await queue())?.paused.accept).toMatchObject({ reason: `Release by ${way}` });
      },
    },
    {
      name: 'queue.resume',
      fields: () => ({ target: 'main' }),
      async after() {
        expect((await queue())?.paused.accept).toBe(null);
      },
    },
    { name: 'task.merge', fields: () => ({ ...tasks(), now: true }), after: () => status('done') },
    { name: 'landing.preview_undo', fields: task, shows: () => 'feat: new' },
    {
      name: 'landing.undo',
      fields: task,
      async after() {
        expect(await shownTask(known.task, cwd)).toMatchObject({ undone: { by: expect.any(String) } });
      },
    },
    // It was removed when the task landed.
    { name: 'worktree.undo', fields: task, after: () => expect(existsSync(known.worktree)).toBe(true) },
  ];
};

interface Queue {
  readonly entries: readonly unknown[];
  readonly paused: { readonly accept: unknown };
}

interface Worktrees {
  readonly worktrees: readonly { readonly task: string | null; readonly worktree: string }[];
}
