/** Answers to requests with a key: no records and no events, and never more than the limits say. */

import { sql } from 'kysely';

import type { Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type KeptAnswer, type KeyedRequest, type KeyTaken, decideKey } from '../rules/keyed-request.ts';
import type { Queries } from './schema.ts';

interface TakeOptions {
  readonly at: Timestamp;
  readonly locksRows: boolean;
  readonly limits: Policy['keptAnswers'];
}

export async function takeKey(
  db: Queries,
  request: KeyedRequest,
  { at, locksRows, limits }: TakeOptions,
): Promise<KeyTaken> {
  await db
    .deleteFrom('answers')
    .where('begun_at', '<=', at - limits.forMs)
    .execute();
  const { id, input, owner } = request;
  const fresh = { id, input, owner, begun_at: at, used: 0, status: null, body: null, bytes: 0 };
  const inserted = await db
    .insertInto('answers')
    .values(fresh)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted !== undefined) {
    await forgetOldest(db, limits);
    return { kind: 'taken' };
  }
  const row = await db
    .selectFrom('answers')
    .selectAll()
    .where('id', '=', id)
    .$if(locksRows, (answer) => answer.forUpdate())
    .executeTakeFirst();
  const found = row && {
    input: row.input,
    begunAt: row.begun_at,
    isUsed: row.used === 1,
    answer: row.status === null || row.body === null ? null : { status: row.status, body: row.body },
  };
  const taken = decideKey(found, request, at, limits);
  // One that was freed between the two statements is taken by the next request.
  if (found === undefined) return { kind: 'pending' };
  if (taken.kind === 'taken')
    await db.updateTable('answers').set({ owner, begun_at: at }).where('id', '=', id).execute();
  return taken;
}

export async function keepAnswer(
  db: Queries,
  { id, owner }: KeyedRequest,
  { status, body }: KeptAnswer,
): Promise<void> {
  const freed =
    status >= 400
      ? await db
          .deleteFrom('answers')
          .where('id', '=', id)
          .where('owner', '=', owner)
          .where('used', '=', 0)
          .returning('id')
          .executeTakeFirst()
      : undefined;
  if (freed !== undefined || status >= 500) return;
  await db
    .updateTable('answers')
    .set({ status, body, bytes: Buffer.byteLength(body) })
    .where('id', '=', id)
    .where('owner', '=', owner)
    .execute();
}

/** The newest stays, however large the others are. */
async function forgetOldest(db: Queries, { most, bytes }: Policy['keptAnswers']): Promise<void> {
  const sum = await db
    .selectFrom('answers')
    .select([sql<number | string>`count(*)`.as('rows'), sql<number | string | null>`sum(bytes)`.as('bytes')])
    .executeTakeFirst();
  if (Number(sum?.rows ?? 0) <= most && Number(sum?.bytes ?? 0) <= bytes) return;
  const rows = await db
    .selectFrom('answers')
    .select(['id', 'bytes'])
    .orderBy('begun_at', 'desc')
    .orderBy('id')
    .execute();
  let kept = 0;
  const beyond = rows.findIndex((row, index) => index >= most || (kept += row.bytes) > bytes);
  const old = rows.slice(Math.max(1, beyond)).map(({ id }) => id);
  if (beyond !== -1) await db.deleteFrom('answers').where('id', 'in', old).execute();
}
