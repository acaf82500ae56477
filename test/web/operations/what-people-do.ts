/** Tasks that stop, ask, move and end; rescues; terminals of agents. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import { answer, copse } from '../../support/cli.ts';
import type { Step, StepsOf } from './step.ts';
import { asking, hear, inTmux, movable, reviewed, shownTask, taken } from './world.ts';

export const stopsAndEnds: StepsOf = ({ cwd }, way): readonly Step[] => {
  const at = { cwd };
  const known = { task: '' };
  const task = () => ({ task: known.task });
  const status = async (wanted: string) =>
    expect(await shownTask(known.task, cwd)).toMatchObject({ status: wanted });
  return [
    {
      name: 'task.stuck',
      async fields() {
        ({ task: known.task } = await taken(`Stops by ${way}`, cwd));
        return { task: known.task, reason: 'Keep both?' };
      },
      after: () => status('stuck'),
    },
    {
      name: 'task.restart',
      fields: () => ({ ...task(), answer: 'Yes' }),
      after: () => status('in_progress'),
    },
    { name: 'task.pause', fields: task, after: () => status('paused') },
    {
      name: 'task.resume',
      fields: () => ({ ...task(), message: 'Go on' }),
      after: () => status('in_progress'),
    },
    {
      name: 'task.cancel',
      fields: () => ({ ...task(), reason: 'No more' }),
      after: () => status('cancelled'),
    },
    {
      name: 'task.delete',
      fields: () => ({ tasks: known.task }),
      async after() {
        expect(await copse(['show', known.task], at)).toMatchObject({ code: 3 });
      },
    },
    { name: 'question.show', fields: () => ({ task: asking(way) }), shows: () => 'rm -rf dist' },
    {
      name: 'question.answer',
      fields: () => ({ task: asking(way), isAllowed: 'deny', message: 'Not this', question: 'q1' }),
      async after() {
        expect(await shownTask(asking(way), cwd)).toMatchObject({
          lastQuestion: { answer: { isAllowed: false, message: 'Not this' } },
        });
      },
    },
    {
      name: 'review.send_back',
      fields: () => ({ task: reviewed(way), comment: 'Again, please' }),
      async after() {
        expect(await shownTask(reviewed(way), cwd)).not.toMatchObject({ status: 'in_review' });
      },
    },
    {
      name: 'task.move',
      async fields() {
        await hear('n-two', cwd);
        return { task: movable(way), to: 'two' };
      },
      async after() {
        const { stdout } = await copse(['events', '--task', movable(way), '--last', '1', '--json'], at);
        expect(stdout).toContain('n-two');
      },
    },
    {
      name: 'session.take_over',
      fields: () => ({ task: inTmux(way) }),
      async after() {
        expect(await shownTask(inTmux(way), cwd)).toMatchObject({ takenOver: expect.any(Object) });
      },
    },
    {
      name: 'session.give_back',
      fields: () => ({ task: inTmux(way) }),
      async after() {
        expect((await shownTask(inTmux(way), cwd))['takenOver'] ?? null).toBe(null);
      },
    },
    {
      name: 'task.logs',
      async fields() {
        const shown = await shownTask(inTmux(way), cwd);
        const [{ id }] = shown['attempts'] as [{ readonly id: string }];
        const folder = path.join(cwd, '.copse', 'logs', inTmux(way));
        mkdirSync(folder, { recursive: true });
        writeFileSync(path.join(folder, `${id}.log`), `printed for ${way}\n`);
        return { task: inTmux(way) };
      },
      shows: () => `printed for ${way}`,
    },
  ];
};

export const rescues: StepsOf = ({ cwd }, way): readonly Step[] => {
  const at = { cwd };
  const known = { task: '', worktree: '', rescue: '' };
  const astray = `astray-${way.replace(' ', '-')}`;
  return [
    {
      name: 'worktree.cleanup',
      async fields() {
        ({ task: known.task, worktree: known.worktree } = await taken(`Rescued by ${way}`, cwd));
        writeFileSync(path.join(known.worktree, 'only here'), 'rescued\n');
        return { task: known.task, force: true };
      },
      async after() {
        expect(existsSync(known.worktree)).toBe(false);
        const { rescues: found } = await answer<{ rescues: readonly { ref: string }[] }>(
          ['rescue', 'list', known.task],
          at,
        );
        known.rescue = found[0]?.ref ?? '';
      },
    },
    { name: 'rescue.list', fields: () => ({ task: known.task }), shows: () => known.task },
    { name: 'rescue.show', fields: () => ({ rescue: known.rescue }), shows: () => 'only here' },
    {
      name: 'rescue.restore',
      fields: () => ({ rescue: known.rescue }),
      after: () => expect(existsSync(path.join(known.worktree, 'only here'))).toBe(true),
    },
    {
      name: 'rescue.move',
      async fields() {
        ({ task: known.task, worktree: known.worktree } = await taken(`Gets files by ${way}`, cwd));
        writeFileSync(path.join(cwd, astray), 'astray\n');
        return { task: known.task, paths: astray };
      },
      after: () =>
        expect([existsSync(path.join(known.worktree, astray)), existsSync(path.join(cwd, astray))]).toEqual([
          true,
          false,
        ]),
    },
    { name: 'leftovers.list' },
    { name: 'leftovers.sweep' },
  ];
};
