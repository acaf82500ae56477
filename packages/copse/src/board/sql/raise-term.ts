/** Begins a term of the board, on a server that is another one than before: see rules/term.ts. */

import { type NodeId, brand, timestamp } from '../../kernel/ids.ts';
import { raisedResource } from '../../machines/rules/fleet.ts';
import { raisedTask } from '../../tasks/rules/events.ts';
import type { BoardEvent } from '../rules/event.ts';
import type { Engine } from './engine.ts';
import type { WriteTransaction } from './schema.ts';
import type { Statements } from './statements.ts';
import { Writer } from './writer.ts';

/** No machine decides this: whichever writes first records it. */
const BY = { kind: 'node', node: brand<NodeId>('board') } as const;

/** False when no term had to begin, for example because another process did so just now. */
export async function raiseTerm(engine: Engine, statements: Statements): Promise<boolean> {
  const { terms } = engine;
  if (terms === undefined) return false;
  const at = timestamp(Date.now());
  return engine.transaction(async (transaction) => {
    // Locked first: of several processes that meet the new server, one begins the term.
    const { last_event: after } = await transaction
      .selectFrom('board')
      .select('last_event')
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (!(await terms.begin(transaction, after, at))) return false;
    const writer = new Writer(transaction, engine, statements);
    const events: BoardEvent[] = [];
    for (const id of await idsOf(transaction, 'tasks')) {
      const task = await writer.get('task', id);
      // Also those that were never claimed: their first claim may be lost.
      if (task !== undefined) events.push(raisedTask(task, at));
    }
    for (const id of await idsOf(transaction, 'resources')) {
      const resource = await writer.get('resource', id);
      if (resource !== undefined) events.push(raisedResource(resource, at));
    }
    await writer.record(BY, events);
    await writer.flush();
    // Who holds a task is not known for certain: every machine observes a whole lease again before it takes one over.
    await transaction
      .updateTable('leases')
      .set((eb) => ({ renewed_at: eb('renewed_at', '+', 1) }))
      .execute();
    return true;
  });
}

async function idsOf(db: WriteTransaction, table: 'tasks' | 'resources'): Promise<readonly string[]> {
  return (await db.selectFrom(table).select('id').orderBy('id').execute()).map(({ id }) => id);
}
