/** The queue's worktrees beside those of tasks, with everything put together as the product does. */

import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { cleanUp } from '../../../packages/copse/src/workspaces/discard/cleanup.ts';
import { tend } from '../../../packages/copse/src/workspaces/act/tend.ts';
import { undo } from '../../../packages/copse/src/workspaces/discard/undo.ts';
import {
  listSpareWorktrees,
  listWorktrees,
} from '../../../packages/copse/src/workspaces/act/worktree-list.ts';
import { type OpenRun, openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type CommitId, brand, parseTaskId } from '../../../packages/copse/src/kernel/ids.ts';
import type { CheckRunEnd } from '../../../packages/copse/src/queue/ports/checks.ts';
import { only } from '../../support/queue/checks.ts';
import { git, newArea, newRepository, plainEnv } from '../../support/cli.ts';

const root = newRepository(newArea());
const worktree = path.join(root, '.worktrees', 'copse-queue-1');
let run: OpenRun;

beforeAll(async () => {
  writeFileSync(path.join(root, '.gitignore'), 'cache/\n');
  writeFileSync(path.join(root, 'copse.yml'), 'workspace: {setup: [mkdir -p cache]}\n');
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message=settings');
  run = await openRun({ cwd: root, env: { ...plainEnv, COPSE_TOKEN: '7' } });
});

afterAll(() => run.close());

function check(command: string): Promise<CheckRunEnd> {
  const commit = brand<CommitId>(git(root, 'rev-parse', 'HEAD'));
  const { signal } = new AbortController();
  const checks = [{ name: 'check', command, timeoutMs: 30_000, env: {}, workingDirectory: null }];
  return run.context.checks.run({ id: 'ch-1', slot: 1, commit, checks, signal });
}

describe('a worktree of the queue', () => {
  it('is set up as copse.yml says, and leaves the main checkout clean', async () => {
    const result = only(await check('test -d cache && env > cache/variables'));
    expect(result.verdict).toBe('green');
    expect(readFileSync(path.join(worktree, 'cache', 'variables'), 'utf8')).not.toContain('COPSE_TOKEN');
    expect(git(root, 'status', '--porcelain')).toBe('');
  });

  it('is listed as the queue’s, and not as one of a task', async () => {
    expect(await listWorktrees(run.context)).toEqual([]);
    expect(await listSpareWorktrees(run.context)).toEqual([{ path: worktree, kind: 'queue' }]);
  });

  it('is not removed by cleanup or tend, and does not count as a task’s', async () => {
    const options = { isForced: true, mayRemove: async () => true };
    expect(await cleanUp(run.context, options)).toEqual({ removed: [], kept: [] });
    await tend(run.context);
    expect(run.context.git.worktrees().map(({ name }) => parseTaskId(name))).toEqual([undefined]);
    expect(existsSync(path.join(worktree, 'cache', 'variables'))).toBe(true);
  });

  it('that was discarded is deleted in the background, and no undo offers it', async () => {
    expect(only(await check('git init --quiet cache/nested && rm .git')).verdict).toBe('green');
    expect(only(await check('test ! -e cache/nested')).verdict).toBe('green');
    const trash = path.join(root, '.copse', 'trash');
    expect(readdirSync(trash)).toHaveLength(1);
    expect(await undo(run.context, undefined)).toMatchObject({ kind: 'refused' });
    expect(await tend(run.context)).toMatchObject({ deleted: 1, kept: [], failed: [] });
    expect(readdirSync(trash)).toEqual([]);
  });
});
