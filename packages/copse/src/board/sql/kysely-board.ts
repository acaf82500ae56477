/** The board, on either engine. */

import { sql } from 'kysely';

import type { KeptAnswer, KeyedRequest, KeyTaken } from '../rules/keyed-request.ts';
import type { BoardLine } from '../rules/board-line.ts';
import { type Renewal, decideRenewal } from '../../tasks/rules/claim.ts';
import {
  type FencingToken,
  type NodeId,
  type TaskId,
  type Timestamp,
  brand,
  timestamp,
} from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import type {
  BackedUp,
  Board,
  BoardReader,
  BoardTransaction,
  ConnectionFacts,
  ImportOutcome,
  Subscription,
} from '../port.ts';
import type { SnapshotReason } from '../rules/snapshots.ts';
import { type Engine, runPatiently } from './engine.ts';
import { exportBoard, importBoard, readExport } from '../export.ts';
import { type BoardServer, type BoardTerm, onlyTerm } from '../rules/term.ts';
import { keepAnswer, takeKey } from './kept-answers.ts';
import { requireCurrent } from './migrate.ts';
import { raiseTerm } from './raise-term.ts';
import { Reader, leaseFromRow } from './reader.ts';
import { Statements, askOf } from './statements.ts';
import { Writer } from './writer.ts';
import type { Queries } from './schema.ts';

const NOT_NULL_VIOLATION = '23502';

type BoardPolicy = Pick<Policy, 'board' | 'lease' | 'keptAnswers'>;

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

  async seeNode(id: NodeId): Promise<Timestamp> {
    const { nowMs, db } = this.#engine;
    const seen = await this.#write((writing) =>
      writing
        .updateTable('nodes')
        .set({ seen_at: nowMs })
        .where('id', '=', id)
        .returning('seen_at')
        .executeTakeFirst(),
    );
    // A node that has not joined has no record: the time is told all the same.
    const at = seen?.seen_at ?? (await sql<{ now: number }>`select ${nowMs} as now`.execute(db)).rows[0]?.now;
    return timestamp(Number(at));
  }

  async silences(): Promise<ReadonlyMap<NodeId, number>> {
    const { nowMs, db } = this.#engine;
    const rows = await db
      .selectFrom('nodes')
      .select(['id', sql<number>`${nowMs} - seen_at`.as('silent')])
      .where('seen_at', 'is not', null)
      .execute();
    return new Map(rows.map(({ id, silent }) => [brand<NodeId>(id), Math.max(0, silent)]));
  }

  takeKey(request: KeyedRequest, at: Timestamp): Promise<KeyTaken> {
    const { locksRows } = this.#engine;
    return this.#write((db) => takeKey(db, request, { at, locksRows, limits: this.#policy.keptAnswers }));
  }

  async keepAnswer(request: KeyedRequest, answer: KeptAnswer): Promise<void> {
    await this.#write((db) => keepAnswer(db, request, answer));
  }

  onChange(wake: () => void): Promise<Subscription> {
    return this.#engine.onChange(wake);
  }

  readAtOnce<T>(read: (board: BoardReader) => Promise<T>): Promise<T> {
    const { dialect } = this.#engine;
    return this.#engine.snapshot((db) => read(new Reader(askOf(db, dialect), { locksRows: false })));
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

  connection(): Promise<ConnectionFacts | null> {
    return this.#engine.connection();
  }

  requireCurrent(): Promise<void> {
    return requireCurrent(this.#engine);
  }

  async terms(): Promise<readonly BoardTerm[]> {
    return (await this.#engine.terms?.list(this.#engine.db)) ?? [onlyTerm];
  }

  async server(): Promise<BoardServer | null> {
    const facts = await this.#engine.server();
    return facts && { ...facts, term: (await this.terms()).at(-1) ?? onlyTerm };
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
      if (!(await this.#hasNewTerm(error))) throw error;
      return runPatiently(this.#engine, this.#policy.board.writePatienceMs, work);
    }
  }

  /** A write that found no number for its events met another server than the one of the current term. */
  async #hasNewTerm(error: unknown): Promise<boolean> {
    const isFenced = error instanceof Error && 'code' in error && error.code === NOT_NULL_VIOLATION;
    if (!isFenced || this.#engine.terms === undefined) return false;
    await runPatiently(this.#engine, this.#policy.board.writePatienceMs, () =>
      raiseTerm(this.#engine, this.#statements),
    );
    return true;
  }
}
