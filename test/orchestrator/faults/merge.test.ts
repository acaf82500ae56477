/** `copse merge` looks at a branch and then queues it; whatever others do in between, only what is finished lands, and once. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { landNow, queueTask } from '../../../packages/copse/src/queue/act/merge.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { type OpenRun, openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { answer, git, newArea, newRepository, plainEnv } from '../../support/cli.ts';

const area = newArea();

it('commits made after the check of a merge are not landed by it; the next merge lands all', async () => {
  await using reviewed = await Reviewed.open();
  const { context, repository, task } = reviewed;
  const meanwhile = lookingSlowly(context, async () => {
    await reviewed.work('second', '--resume');
  });
  expect(await queueTask(meanwhile, task)).toMatchObject({
    kind: 'refused',
    refusal: {
      reason: `${task} changed while its branch was read.`,
      next: [`copse merge ${task}`],
    },
  });
  expect(await context.board.openLandings()).toEqual([]);
  expect((await context.board.get('task', task))?.state.status).toBe('in_review');

  expect(await queueTask(context, task)).toMatchObject({ kind: 'done' });
  expect((await landNow(context, [task])).get(task)).toMatchObject({ kind: 'landed' });
  expect(git(repository, 'log', '--reverse', '--format=%s', 'main').split('\n').slice(-2)).toEqual([
    'begun',
    'second',
  ]);
});

it('a task that was resumed in the meantime is not landed', async () => {
  await using reviewed = await Reviewed.open();
  const { context, repository, task } = reviewed;
  const meanwhile = lookingSlowly(context, async () => {
    await answer(['work', task, '--resume'], { cwd: repository });
  });
  expect(await queueTask(meanwhile, task)).toMatchObject({ kind: 'refused' });
  expect(await context.board.openLandings()).toEqual([]);
  expect((await context.board.get('task', task))?.state.status).toBe('in_progress');
});

it('two merges of the same task at once get the same landing, and it lands once', async () => {
  await using reviewed = await Reviewed.open();
  const { context, repository, task } = reviewed;
  let first: unknown;
  const meanwhile = lookingSlowly(context, async () => {
    first = await queueTask(context, task);
  });
  const second = await queueTask(meanwhile, task);
  expect(second).toMatchObject({ kind: 'done' });
  expect(second).toEqual(first);
  const landed = await Promise.all([landNow(context, [task]), landNow(context, [task])]);
  expect(landed.filter((one) => one.get(task)?.kind === 'landed')).toHaveLength(1);
  expect(
    git(repository, 'log', '--format=%s', 'main')
      .split('\n')
      .filter((one) => one === 'begun'),
  ).toHaveLength(1);
});

it.each([
  [
    'worktree',
    (at: string, worktree: string) => git(at, 'worktree', 'remove', '--force', '--force', worktree),
  ],
  [
    'branch',
    (at: string, worktree: string) => git(at, 'update-ref', '-d', git(worktree, 'symbolic-ref', 'HEAD')),
  ],
] as const)('a %s that somebody removes meanwhile ends in a sentence', async (what, remove) => {
  await using reviewed = await Reviewed.open();
  const { context, repository, task, worktree } = reviewed;
  let isRemoved = false;
  const meanwhile = lookingSlowly(context, () => {
    if (!isRemoved) remove(repository, worktree);
    isRemoved = true;
    return Promise.resolve();
  });
  expect(await queueTask(meanwhile, task)).toMatchObject({
    kind: 'refused',
    refusal: {
      reason: expect.stringContaining(`The worktree of ${task} `),
      next: [`copse merge ${task}`, `copse show ${task}`],
    },
  });
  expect((await context.board.get('task', task))?.state.status).toBe('in_review');
  expect(what).toBeDefined();
});

it('a worktree that goes while the queue looks at its moved branch does not end the merge', async () => {
  await using reviewed = await Reviewed.open();
  const { context, repository, task, worktree } = reviewed;
  expect(await queueTask(context, task)).toMatchObject({ kind: 'done' });
  git(worktree, 'commit', '--quiet', '--allow-empty', '--message=more');
  let isRemoved = false;
  const meanwhile = lookingSlowly(context, () => {
    if (!isRemoved) git(repository, 'worktree', 'remove', '--force', '--force', worktree);
    isRemoved = true;
    return Promise.resolve();
  });
  expect((await landNow(meanwhile, [task])).get(task)).toMatchObject({ kind: 'gone' });
  expect((await context.board.get('task', task))?.state.status).toBe('in_review');
});

/** Something happens after the worktree was looked at, and before anything is decided. */
function lookingSlowly(context: RunContext, meanwhile: () => Promise<void>): RunContext {
  const look: RunContext['git']['look'] = async (folder) => {
    const seen = await context.git.look(folder);
    await meanwhile();
    return seen;
  };
  return { ...context, git: { ...context.git, look } };
}

/** A task that somebody finished by hand and that waits for a review. */
class Reviewed implements AsyncDisposable {
  readonly repository: string;
  readonly task: TaskId;
  readonly context: RunContext;
  worktree = '';
  readonly #opened: OpenRun;

  private constructor(of: Pick<Reviewed, 'repository' | 'task'> & { readonly opened: OpenRun }) {
    this.repository = of.repository;
    this.task = of.task;
    this.context = of.opened.context;
    this.#opened = of.opened;
  }

  static async open(): Promise<Reviewed> {
    const repository = newRepository(area);
    writeFileSync(path.join(repository, 'copse.yml'), 'landing: {policy: review, target: main}\n');
    const { id } = await answer<{ id: string }>(['add', 'Work'], { cwd: repository });
    const opened = await openRun({ cwd: repository, env: plainEnv });
    const reviewed = new Reviewed({ repository, task: brand<TaskId>(id), opened });
    await reviewed.work('begun');
    return reviewed;
  }

  async work(word: string, ...options: readonly string[]): Promise<void> {
    const { worktree } = await answer<{ worktree: string }>(['work', this.task, ...options], {
      cwd: this.repository,
    });
    this.worktree = worktree;
    writeFileSync(path.join(worktree, `${word}.txt`), word);
    git(worktree, 'add', '.');
    git(worktree, 'commit', '--quiet', `--message=${word}`);
    await answer(['finish'], { cwd: worktree });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.close();
  }
}
