/** Operations on worktrees, called by a program: it cannot be asked, so it confirms by a field, and what it gets is bounded. */

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { withAccess } from '../../../packages/copse/src/compose/operations/access.ts';
import { act, view } from '../../../packages/copse/src/operations/worktrees/diff.ts';
import { type TaskDocument, answer, git, newArea, plainEnv } from '../../support/cli.ts';
import { perform } from '../../support/operations/perform.ts';
import { type WorkDocument, newProject, taken } from '../../support/workspaces/worktrees.ts';

let at: { readonly cwd: string };
let work: WorkDocument;

beforeAll(async () => {
  at = newProject(newArea());
  const maintenance = 'maintenance: { worktree_cleanup: { max_worktree_age: 0 } }\n';
  writeFileSync(path.join(at.cwd, 'copse.yml'), `agents: { c: { command: "true" } }\n${maintenance}`);
  work = await taken('Ünder way', at);
  for (const name of ['one', 'two', 'three'])
    writeFileSync(path.join(work.worktree, name), 'ü ü ü\n'.repeat(40));
  git(work.worktree, 'add', '.');
  git(work.worktree, 'commit', '--quiet', '--message=three files');
  writeFileSync(path.join(work.worktree, 'not committed'), 'only here\n');
});

interface DiffDocument {
  readonly files: readonly unknown[];
  readonly inserted: number;
  readonly patch: string;
  readonly note?: string;
}

describe('a diff', () => {
  const diff = (input: object) =>
    perform('task.diff', { task: work.task, ...input }, at) as Promise<DiffDocument>;

  test('that fits is whole and has no note', async () => {
    const whole = await diff({});
    expect(whole).toMatchObject({ inserted: 120 });
    expect(whole.files).toHaveLength(3);
    expect(whole).not.toHaveProperty('note');
  });

  test('is cut after a line, counts everything, and says what is missing', async () => {
    const found = await withAccess({ ...at, env: plainEnv }, (access) => act(access, { task: work.task }));
    const { patch } = await diff({});
    // At every byte of a line, so that one of them is inside a character.
    for (let most = 400; most < 400 + Buffer.byteLength('+ü ü ü\n'); most += 1) {
      const cut = view({ ...found, maxPatchBytes: most });
      expect(cut).toMatchObject({ patch: expect.stringMatching(/\n$/) });
      const length = Buffer.byteLength(cut.patch ?? '');
      expect(cut.patch).toBe(Buffer.from(patch).subarray(0, length).toString());
      expect([length <= most, length > most - 12]).toEqual([true, true]);
      const note = `Only the first ${length} bytes of the patch. To see all: copse diff ${work.task}`;
      expect(cut).toMatchObject({ note });
    }
    const few = await diff({ maxFiles: 1, maxPatchBytes: 0 });
    expect(few).toMatchObject({ inserted: 120, patch: '' });
    expect(few.files).toHaveLength(1);
    expect(few.note).toMatch(/^Only the first 1 of 3 files, and the first 0 bytes of the patch\. /);
  });

  test('of more than a program may get is cut without being asked, and is whole in the command line', async () => {
    const large = path.join(work.worktree, 'large');
    writeFileSync(large, `${'x'.repeat(99)}\n`.repeat(12_000));
    const cut = await diff({ uncommitted: true });
    expect(Buffer.byteLength(cut.patch)).toBeLessThanOrEqual(1024 ** 2);
    expect(cut.note).toContain('To see all');
    // Git is not asked for the rest, which may be larger than the memory.
    const { found } = await withAccess({ ...at, env: plainEnv }, (access) =>
      act(access, { task: work.task, uncommitted: true }),
    );
    expect(found.diff.patch).toHaveLength(1024 ** 2 + 4);
    const whole = await answer<DiffDocument>(['diff', work.task, '--uncommitted'], at);
    expect(Buffer.byteLength(whole.patch)).toBeGreaterThan(1_200_000);
    expect(whole).not.toHaveProperty('note');
    git(work.worktree, 'add', 'large');
    git(work.worktree, 'commit', '--quiet', '--message=feat: large');
    const review = (await perform('review.show', { task: work.task }, at)) as DiffDocument;
    expect(Buffer.byteLength(review.patch)).toBeLessThanOrEqual(1024 ** 2);
    expect(review.note).toContain(`To see all: copse review ${work.task}`);
    git(work.worktree, 'reset', '--quiet', '--hard', 'HEAD~1');
  });
});

test('an agent gets the diff of its own task only, and syncs no other', async () => {
  const { id: other } = await answer<TaskDocument>(['add', 'Of another'], at);
  const env = { ...plainEnv, COPSE_SESSION_ID: 'se-aaaa', COPSE_TOKEN: '1', COPSE_TASK_ID: work.task };
  const from = { cwd: at.cwd, env };
  expect(await perform('task.diff', { withoutPatch: true }, from)).toMatchObject({ task: work.task });
  for (const name of ['task.diff', 'worktree.sync'])
    await expect(perform(name, { task: other }, from)).rejects.toMatchObject({
      failure: { code: 'not_this_session', reason: `${other} is not the task of session se-aaaa.` },
    });
});

test('a worktree that exists is neither continued nor reset unless the call says which', async () => {
  await expect(perform('task.work', { task: work.task }, at)).rejects.toMatchObject({
    failure: {
      code: 'wrong_status',
      reason: `${work.task} already has a worktree (1 uncommitted change, 1 commit of its own): ${work.worktree}`,
      next: [
        `copse work ${work.task} --resume # to continue in it`,
        `copse work ${work.task} --reset # to start over; its contents are rescued first`,
      ],
    },
  });
  expect(await perform('task.work', { task: work.task, existing: 'resume' }, at)).toMatchObject({
    reused: true,
  });
});

test('files outside of the main checkout are not moved, and nothing is restored outside of a checkout', async () => {
  await expect(
    perform('rescue.move', { task: work.task, paths: ['../elsewhere'] }, at),
  ).rejects.toMatchObject({ failure: { reason: '../elsewhere is not inside the main checkout.' } });
  writeFileSync(path.join(at.cwd, 'astray'), 'one\n');
  const { rescue } = (await perform('rescue.move', { task: work.task, paths: ['astray'] }, at)) as {
    readonly rescue: string;
  };
  const outside = path.dirname(at.cwd);
  await expect(perform('rescue.restore', { rescue, into: outside }, at)).rejects.toMatchObject({
    failure: { code: 'not_found', reason: `${outside} is not a checkout of this repository.` },
  });
  expect(existsSync(path.join(outside, 'astray'))).toBe(false);
});

describe('without a confirmation nothing is lost', () => {
  test('worktree.cleanup says what a worktree has, and removes it once it is confirmed', async () => {
    await expect(perform('worktree.cleanup', { task: work.task }, at)).rejects.toMatchObject({
      failure: {
        code: 'wrong_status',
        reason: expect.stringMatching(
          /^Not removed: the worktree of \S+ needs a confirmation\. .*uncommitted/,
        ),
        next: [`copse cleanup ${work.task} --yes # to remove it; uncommitted files are rescued first`],
      },
    });
    await answer(['cancel', work.task], at);
    expect(await perform('worktree.cleanup', {}, at)).toMatchObject({
      removed: [],
      kept: [{ task: work.task, reason: expect.stringContaining('uncommitted') }],
    });
    expect(existsSync(work.worktree)).toBe(true);
    expect(await perform('worktree.cleanup', { unlanded: true }, at)).toMatchObject({
      removed: [{ task: work.task, rescue: expect.stringContaining(work.task) }],
    });
    expect(existsSync(work.worktree)).toBe(false);
    expect(await perform('worktree.undo', {}, at)).toMatchObject({
      worktree: work.worktree,
      undone: 'removal',
    });
  });

  test('leftovers.list says how much would go, and leftovers.sweep removes it', async () => {
    expect(await perform('leftovers.list', {}, at)).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ task: work.task })]),
    });
    expect(existsSync(work.worktree)).toBe(true);
    expect(await perform('leftovers.sweep', {}, at)).toMatchObject({
      dryRun: false,
      items: expect.arrayContaining([
        expect.objectContaining({ task: work.task, outcome: expect.objectContaining({ kind: 'removed' }) }),
      ]),
    });
    expect(existsSync(work.worktree)).toBe(false);
  });
});
