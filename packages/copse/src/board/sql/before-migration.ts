/**
 * Who would be cut off by a migration of a board on PostgreSQL. Who uses a board in a file is known exactly, and asked
 * elsewhere (compose/board/who-runs.ts).
 */

import { sql } from 'kysely';

import type { Policy } from '../../kernel/policy.ts';
import { named } from '../../kernel/text.ts';
import { type Node, nodesBelow, readNode } from '../../machines/rules/node.ts';
import { BoardUnavailable } from '../port.ts';
import type { Engine } from './engine.ts';

interface Migration {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

export async function refuseBesideOthers(
  engine: Engine,
  { nodes, lease }: Pick<Policy, 'nodes' | 'lease'>,
  migration: Migration,
): Promise<void> {
  if (engine.name !== 'postgres') return;
  await refuseBesideNodes(engine, nodes, migration);
  await refuseBesideAgents(engine, lease, migration.at);
}

/** Nodes of an older Copse that were heard from lately. */
async function refuseBesideNodes(
  { db, nowMs }: Engine,
  policy: Policy['nodes'],
  { from, to }: Migration,
): Promise<void> {
  if (from < FIRST_WITH_NODES) return;
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'data', sql<number | null>`${nowMs} - seen_at`.as('silent')])
    .execute();
  const silences = new Map(rows.map(({ id, silent }) => [id, silent]));
  const nodes = rows.map(({ data }) => readNode(JSON.parse(data) as Node));
  const old = nodesBelow(nodes, to, (id) => silences.get(id) ?? null, policy);
  if (old.length === 0) return;
  const names = named(old.map((node) => `${node.name} (Copse ${node.facts?.version ?? 'unknown'})`));
  throw new BoardUnavailable(
    `Nodes of an older Copse use this board: ${names}. This Copse would migrate it from version ${from} to ${to}, which they cannot use. Nothing was changed. Stop or drain them, update their Copse, and try again ${policy.silentMs / 1_000} s later.`,
    'copse board migrate --force # to migrate without waiting',
  );
}

/** The version of the board that has the table. */
const FIRST_WITH_NODES = 2;

/**
 * Other machines share a board on PostgreSQL, and their running agents show in the leases. An orchestrator without an agent does
 * not; it stops when it meets the newer board.
 */
async function refuseBesideAgents(engine: Engine, lease: Policy['lease'], now: number): Promise<void> {
  const leases = await engine.db.selectFrom('leases').selectAll().where('expires_at', '>', now).execute();
  // A lease of work by hand lasts for days.
  const tasks = leases.filter((one) => one.expires_at - one.renewed_at <= lease.durationMs);
  if (tasks.length === 0) return;
  throw new BoardUnavailable(
    `Agents of an older Copse work on this board: ${named(tasks.map(({ task }) => task))}. This Copse would migrate it, which they cannot use. Nothing was changed. Stop the orchestrators of all machines (Ctrl+C), and let their agents end or pause them.`,
    `${tasks.map(({ task }) => `copse pause ${task}`).join('; ')} # with the older Copse`,
  );
}
