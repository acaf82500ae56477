/** INVARIANT 4: what git ignores is in no rescue, so people are told what of it went to the trash, and how it comes back. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { answer, git, newArea, printed } from '../../support/cli.ts';
import { everyByte, makeAMess, newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

interface Ignored {
  readonly count: number;
  readonly first: readonly string[];
}

interface CleanupDocument {
  readonly removed: readonly { readonly rescue: string; readonly ignored: Ignored }[];
}

// promise: ignored-files-kept
test('a removal names ignored files, a rescue says where they are, and an undo that they are back', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('Build it', at);
  makeAMess(worktree);
  const before = everyByte(worktree);
  const removed = await printed(['cleanup', task, '--force'], at);
  expect(removed).toContain('ignored by git, so only in the trash: build.log, cache/\n');
  const shown = await printed(['rescue', 'show', task], at);
  expect(shown).toMatch(/so only in the trash, until \d{4}-\d\d-\d\d at least: build\.log, cache\/\n/);
  expect(shown).toContain(`copse undo ${task}`);
  expect(await printed(['undo', task], at)).toContain('restored from the trash: build.log, cache/\n');
  expect(everyByte(worktree)).toEqual(before);
});

test('it is still named after the trash was thinned, ignore rules included', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('Wait a while', at);
  makeAMess(worktree);
  await printed(['cleanup', task, '--force'], at);
  await printed(['tend'], at);
  expect(await printed(['rescue', 'show', task], at)).toContain(': build.log, cache/\n');
  const undone = await answer<{ readonly ignored: Ignored }>(['undo', task], at);
  expect(undone.ignored).toEqual({ count: 2, first: ['build.log', 'cache/'] });
});

test('of many a few are named and all are counted, with any names and any index', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('Log a lot', at);
  for (const name of ['a "b"', 'ä\n林', 'c', 'd', 'e', 'f', 'g'])
    writeFileSync(path.join(worktree, `${name}.log`), '');
  mkdirSync(path.join(worktree, 'cache', 'empty'), { recursive: true });
  writeFileSync(path.join(worktree, 'kept.log'), 'tracked all the same\n');
  git(worktree, 'add', '--force', 'kept.log');
  const index = path.join(git(worktree, 'rev-parse', '--absolute-git-dir'), 'index');
  const first = ['a "b".log', 'c.log', 'd.log', 'e.log', 'f.log'];
  const whole = await answer<CleanupDocument>(['cleanup', task, '--force'], at);
  expect(whole.removed[0]?.ignored).toEqual({ count: 7, first });

  await printed(['undo', task], at);
  writeFileSync(index, 'no index\n'.repeat(20));
  const damaged = await answer<CleanupDocument>(['cleanup', task, '--force'], at);
  // Without an index, the file that is tracked in spite of the rules looks like any other.
  expect(damaged.removed[0]?.ignored).toEqual({ count: 8, first });
});

test('nothing is printed if git ignores only Copse’s own files, or if the folder was deleted', async () => {
  const at = newProject(area);
  const clean = await taken('Leave no trace', at);
  expect(await printed(['cleanup', clean.task, '--force'], at)).not.toContain('ignored');
  expect(await printed(['undo', clean.task], at)).not.toContain('trash');
  rmSync(clean.worktree, { recursive: true });
  expect(await printed(['cleanup', clean.task, '--force'], at)).not.toContain('ignored');
});
