/** Processes that are killed while they hand out an entry or fill the pool. */

import { existsSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { openTrustedDir } from '../../../../packages/copse/src/git/directory/trusted-dir.ts';
import { repairMoved } from '../../../../packages/copse/src/git/worktrees/registrations.ts';
import { lookAtWorktree } from '../../../../packages/copse/src/git/worktrees/worktrees.ts';
import { fillSteps, takeSteps } from '../../../../packages/copse/src/workspaces/ports/pool.ts';
import { git, newArea } from '../../../support/cli.ts';
import { at, contents, expectLikePlainGit, fixturesIn, refill, removed, run, take } from './fixture.ts';
import { poolOf } from './pool-worker.ts';

const newFixture = fixturesIn(newArea());

describe('a kill while an entry is handed out', () => {
  it.each(takeSteps)(
    'after "%s" leaves a whole worktree, or a broken one, and nothing shared',
    async (step) => {
      const fixture = newFixture();
      await refill(fixture, 2, fixture.old);
      git(fixture.repository, 'branch', 'cp-a', fixture.tip);
      const killed = await run({ ...fixture, do: { take: 'cp-a', tip: fixture.tip }, killAfter: step });
      expect(killed.code).toBe(null);
      const dir = openTrustedDir({
        commonDir: path.join(fixture.repository, '.git'),
        home: fixture.repository,
      });
      const worktree = at(fixture, 'cp-a');
      await repairMoved(dir.commonDir, worktree);
      const { state } = await lookAtWorktree(dir, worktree);
      expect(state).toBe(step === 'finished' ? 'healthy' : existsSync(worktree) ? 'broken' : 'absent');
      if (state === 'healthy') expectLikePlainGit(fixture, worktree, fixture.tip);
      const before = existsSync(worktree) ? contents(worktree) : undefined;

      const other = await take(fixture, 'cp-b');
      expect(other.kind).toBe('taken');
      expectLikePlainGit(fixture, at(fixture, 'cp-b'), fixture.tip);
      expect(await take(fixture, 'cp-c')).toEqual({ kind: 'not_taken', because: 'empty' });
      const refilled = await refill(fixture, 2, fixture.tip);
      expect(refilled.ready).toBe(2);
      expect((await take(fixture, 'cp-d')).kind).toBe('taken');
      expectLikePlainGit(fixture, at(fixture, 'cp-d'), fixture.tip);
      if (before) expect(contents(worktree)).toEqual(before);
      expect((await lookAtWorktree(dir, worktree)).state).toBe(state);
    },
  );
});

describe('a kill while the pool is filled', () => {
  const kinds = ['made', 'advanced', 'recycled'] as const;
  const cases = kinds.flatMap((kind) => fillSteps.map((step) => [kind, step] as const));
  const happening = cases.filter(
    ([kind, step]) => step !== (kind === 'advanced' ? 'entry_registered' : 'entry_opened'),
  );
  it.each(happening)('and an entry is %s, after "%s", leaves no incomplete entry', async (kind, step) => {
    const fixture = newFixture();
    const files = path.join(fixture.trash, 'removed', 'files');
    if (kind === 'recycled') removed(fixture, files);
    if (kind === 'advanced') await refill(fixture, 1, fixture.old);
    const what = kind === 'recycled' ? { recycle: files } : { refill: 1 };
    const killed = await run({ ...fixture, do: { ...what, base: fixture.tip }, killAfter: step });
    expect(killed.code).toBe(null);
    const isWhole = step === 'sealed';
    expect(poolOf(fixture).list()).toHaveLength(isWhole ? 1 : 0);
    expect((await take(fixture, 'cp-z')).kind).toBe(isWhole ? 'taken' : 'not_taken');
    expect(await refill(fixture, 1, fixture.tip)).toMatchObject({
      ready: 1,
      cleared: isWhole ? 0 : 1,
      left: [],
    });
    expect((await take(fixture, 'cp-a')).kind).toBe('taken');
    expectLikePlainGit(fixture, at(fixture, 'cp-a'), fixture.tip);
  });
});
