/** A page shows the review of a task while its worktree is removed, as happens after each landing. */

import { expect, test } from 'vitest';

import { inReview, reviewed } from '../../support/agents/needs.ts';
import { newScene } from '../../support/agents/scripted-agents.ts';
import { newArea, printed } from '../../support/cli.ts';
import { call, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();

test('a review that is read while the worktree is removed is answered', async () => {
  const scene = newScene(area, reviewed);
  await using served = await serveRepository(scene.folder);
  for (let round = 0; round < 4; round += 1) {
    const id = await inReview(scene, `Work ${round}`);
    const over = new AbortController();
    const read = async () => {
      const statuses = new Set<number>();
      while (!over.signal.aborted)
        statuses.add((await call(served, `GET /tasks/${id}/review?lossy=true`)).status);
      return [...statuses];
    };
    const readers = [read(), read()];
    await printed(['cancel', id], scene.at);
    await printed(['cleanup', id, '--force'], scene.at);
    over.abort();
    expect(await Promise.all(readers)).toStrictEqual([[200], [200]]);
  }
  expect(served.problems).toStrictEqual([]);
});
