/** Invariant 16 where the server itself goes down: what was acknowledged is there afterwards. */

import { randomUUID } from 'node:crypto';

import { expect, it } from 'vitest';

import { openBoard } from '../../../packages/copse/src/board/open.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { startPostgres } from '../../support/board/postgres.ts';
import { newTask } from '../../support/records/tasks.ts';

// promise: writes-durable
it('keeps every acknowledged write when PostgreSQL ends without notice', { timeout: 180_000 }, async () => {
  const server = await startPostgres({ durable: false });
  try {
    const address = { engine: 'postgres', url: server.url } as const;
    const ids: string[] = [];
    for (let crash = 1; crash <= 2; crash += 1) {
      const board = await openBoard(address, defaultPolicy, { id: randomUUID(), at: Date.now() });
      for (let count = 0; count < 10; count += 1) ids.push((await newTask(board, { title: 'Keep me' })).id);
      await server.crash();
      await board.close().catch(() => {});
      const again = await openBoard(address, defaultPolicy, { id: randomUUID(), at: Date.now() });
      const kept = await again.tasks({ order: 'urgent' });
      await again.close();
      expect(kept.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    }
  } finally {
    await server.stop();
  }
});
