/** Refs whose object is gone: an agent can delete objects and write refs, and git then fails for all refs at once. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { answer, copse, git, newArea, newRepository } from '../../support/cli.ts';

const area = newArea();

/** One of each place that Copse lists. */
const REFS = [
  'refs/heads/gone',
  'refs/tags/gone',
  'refs/remotes/origin/gone',
  'refs/copse/keep/cp-gone/1-11111111',
  'refs/copse/rescue/cp-gone/1',
];

// promise: unreadable-work-stops-no-other
test('refs to nothing stop no command about another task', async () => {
  const folder = newRepository(area);
  const at = { cwd: folder };
  const { id } = await answer<{ readonly id: string }>(['add', 'honest'], at);
  await copse(['work', id], at);
  const worktree = path.join(folder, '.worktrees', id);
  writeFileSync(path.join(worktree, 'work.txt'), 'first\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: first');
  // Only the reflog knows the commit before.
  git(worktree, 'commit', '--quiet', '--amend', '--message=feat: second');
  writeFileSync(path.join(worktree, 'uncommitted.txt'), 'kept\n');
  for (const ref of REFS) {
    const file = path.join(folder, '.git', ref);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${'1'.repeat(40)}\n`);
  }
  await allSucceed([
    ['why', id],
    ['worktrees'],
    ['diff', id],
    ['sync', id],
    ['radar'],
    ['rescue', 'list'],
    ['cleanup', id, '--force'],
    ['rescue', 'list'],
    ['undo'],
    ['tend'],
    ['work', id, '--resume'],
  ]);
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: third');
  await allSucceed([
    ['finish', id],
    ['merge', id],
  ]);

  async function allSucceed(commands: readonly (readonly string[])[]): Promise<void> {
    for (const argv of commands) {
      const { code, stderr } = await copse(argv, at);
      expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr });
    }
  }
});
