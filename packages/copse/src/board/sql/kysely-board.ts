/** The board, on either engine. */

import type { BoardLine } from '../rules/board-line.ts';
import { type Renewal, decideRenewal } from '../../tasks/rules/claim.ts';
import type { FencingToken, NodeId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { BackedUp, Board, BoardTransaction, ImportOutcome, ServerFacts, Subscription } from '../port.ts';
import type { SnapshotReason } from '../rules/snapshots.ts';
import { type Engine, runPatiently } from './engine.ts';
import { exportBoard, importBoard, readExport } from '../export.ts';
import { requireCurrent } from './migrate.ts';
import { Reader, leaseFromRow } from './reader.ts';
import { Statements, askOf } from './statements.ts';
import { Writer } from './writer.ts';
import type { Queries } from './schema.ts';

type BoardPolicy = Pick<Policy, 'board' | 'lease'>;

export class KyselyBoard extends Reader implements Board {
  readonly engine: 'sqlite' | 'postgres';
  readonly location: string;
  readonly #engine: Engine;
  readonly #policy: BoardPolicy;
  readonly #statements: Statements;

  constructor(engine: Engine, policy: BoardPolicy) {
    super(askOf(engine.db, engine.dialect), { locksRows: false });
    this.engine = engine.name;
    this.location = engine.location;
    this.#engine = engine;
    this.#policy = policy;
    this.#statements = new Statements(engine);
  }

  async transact<T>(work: (transaction: BoardTransaction) => Promise<T>): Promise<T> {
    return this.#patiently(() => this.#once(work));
  }

  async renewLease(task: TaskId, token: FencingToken, at: Timestamp): Promise<Renewal> {
    return this.#write(async (db) => {
      const row = await db
        .selectFrom('leases')
        .selectAll()
        .where('task', '=', task)
        .$if(this.#engine.locksRows, (lease) => lease.forUpdate())
        .executeTakeFirst();
      const renewal = decideRenewal(row && leaseFromRow(row), token, at, this.#policy.lease);
      if (renewal.kind !== 'renewed') return renewal;
      const { renewedAt, expiresAt } = renewal.lease;
      await db
        .updateTable('leases')
        .set({ renewed_at: renewedAt, expires_at: expiresAt })
        .where('task', '=', task)
        .where('token', '=', token)
        .execute();
      return renewal;
    });
  }

  async seeNode(id: NodeId, at: Timestamp): Promise<void> {
    await this.#write((db) => db.updateTable('nodes').set({ seen_at: at }).where('id', '=', id).execute());
  }

  async lastSeen(id: NodeId): Promise<Timestamp | undefined> {
    const row = await this.#engine.db
      .selectFrom('nodes')
      .select('seen_at')
      .where('id', '=', id)
      .executeTakeFirst();
    return (row?.seen_at ?? undefined) as Timestamp | undefined;
  }

  onChange(wake: () => void): Promise<Subscription> {
    return this.#engine.onChange(wake);
  }

  exportTo(write: (line: BoardLine) => Promise<void>): Promise<void> {
    return this.#engine.snapshot((db) => exportBoard(db, write));
  }

  async importFrom(lines: AsyncIterable<BoardLine>): Promise<ImportOutcome> {
    const read = await readExport(lines);
    if ('reason' in read) return { kind: 'bad_export', reason: read.reason };
    const outcome = await this.#patiently(() => importBoard(this.#engine, this.#statements, read));
    if (outcome.kind === 'imported') this.#engine.afterCommit();
    return outcome;
  }

  backUp(reason: SnapshotReason, at: Timestamp): Promise<BackedUp> {
    return this.#engine.backUp(reason, at);
  }

  findDamage(): Promise<readonly string[]> {
    return this.#engine.findDamage();
  }

  server(): Promise<ServerFacts | undefined> {
    return this.#engine.server();
  }

  requireCurrent(): Promise<void> {
    return requireCurrent(this.#engine);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async #once<T>(work: (transaction: BoardTransaction) => Promise<T>): Promise<T> {
    const result = await this.#engine.transaction(async (transaction) => {
      const writer = new Writer(transaction, this.#engine, this.#statements);
      const value = await work(writer);
      return { value, hasRecorded: await writer.flush() };
    });
    // Only after a change: a process that was woken and only reads must not wake the others again.
    if (result.hasRecorded) this.#engine.afterCommit();
    return result.value;
  }

  /** For writes that are not events. */
  #write<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#patiently(() => this.#engine.transaction(work));
  }

  /** An error of the database may come from a migration of which this process does not know. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await runPatiently(this.#engine, this.#policy.board.writePatienceMs, work);
    } catch (error) {
      if (error instanceof Error && ('errcode' in error || 'code' in error)) await this.requireCurrent();
      throw error;
    }
  }
}
