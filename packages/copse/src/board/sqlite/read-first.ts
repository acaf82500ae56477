/**
 * A SQLite board that reads at once, and loads what writing needs (Kysely and the statements) with its first write.
 *
 * Until then no transaction can be open on the connection, so a read waits for none. From then on, reads take their turn
 * with transactions: a read in between would see what is not committed.
 */

import type { Renewal } from '../../tasks/rules/claim.ts';
import type { FencingToken, NodeId, TaskId, Timestamp } from '../../kernel/ids.ts';
import { migratedVersion } from '../migrations/version.ts';
import type { BackedUp, Board, BoardReader, BoardTransaction, ImportOutcome, Subscription } from '../port.ts';
import type { KeptAnswer, KeyedRequest, KeyTaken } from '../rules/keyed-request.ts';
import type { BoardLine } from '../rules/board-line.ts';
import type { SnapshotReason } from '../rules/snapshots.ts';
import { type BoardServer, type BoardTerm, onlyTerm } from '../rules/term.ts';
import { type Query, type RunQuery, query } from '../sql/query.ts';
import { Reader } from '../sql/reader.ts';
import { type SqliteConnection, rowsOf } from './connection.ts';

export interface WholeBoard {
  readonly board: Board;
  readonly ask: RunQuery;
}

/** Undefined when the board has to be made or migrated first. `load` loads the rest, on the same connection. */
export function openReadFirst(
  connection: SqliteConnection,
  load: () => Promise<WholeBoard>,
): Board | undefined {
  const isThere = rowsOf(connection, query`select 1 from sqlite_master where name = 'board'`).length > 0;
  const [found] = isThere ? rowsOf(connection, query`select version from {board}`) : [];
  const { version } = (found ?? {}) as { readonly version?: number };
  return version === migratedVersion ? new ReadFirstBoard(connection, load) : undefined;
}

class ReadFirstBoard extends Reader implements Board {
  readonly engine = 'sqlite';
  readonly location: string;
  readonly #connection: SqliteConnection;
  readonly #load: () => Promise<WholeBoard>;
  #whole: Promise<WholeBoard> | undefined;

  constructor(connection: SqliteConnection, load: () => Promise<WholeBoard>) {
    const ask = async (asked: Query): Promise<readonly unknown[]> => {
      if (this.#whole === undefined) return rowsOf(connection, asked);
      // Asked anew when it could not be loaded: another write may be loading it by now.
      return (await this.#loaded())?.ask(asked) ?? ask(asked);
    };
    super(ask as RunQuery, { locksRows: false });
    this.location = connection.file;
    this.#connection = connection;
    this.#load = load;
  }

  async transact<T>(work: (transaction: BoardTransaction) => Promise<T>): Promise<T> {
    return (await this.#all()).transact(work);
  }

  async renewLease(task: TaskId, token: FencingToken, at: Timestamp): Promise<Renewal> {
    return (await this.#all()).renewLease(task, token, at);
  }

  async seeNode(id: NodeId): Promise<Timestamp> {
    return (await this.#all()).seeNode(id);
  }

  async silences(): Promise<ReadonlyMap<NodeId, number>> {
    return (await this.#all()).silences();
  }

  async takeKey(request: KeyedRequest, at: Timestamp): Promise<KeyTaken> {
    return (await this.#all()).takeKey(request, at);
  }

  async keepAnswer(request: KeyedRequest, answer: KeptAnswer): Promise<void> {
    return (await this.#all()).keepAnswer(request, answer);
  }

  async onChange(wake: () => void): Promise<Subscription> {
    return (await this.#all()).onChange(wake);
  }

  async readAtOnce<T>(read: (board: BoardReader) => Promise<T>): Promise<T> {
    return (await this.#all()).readAtOnce(read);
  }

  async exportTo(write: (line: BoardLine) => Promise<void>): Promise<void> {
    return (await this.#all()).exportTo(write);
  }

  async importFrom(lines: AsyncIterable<BoardLine>): Promise<ImportOutcome> {
    return (await this.#all()).importFrom(lines);
  }

  async backUp(reason: SnapshotReason, at: Timestamp): Promise<BackedUp> {
    return (await this.#all()).backUp(reason, at);
  }

  async findDamage(): Promise<readonly string[]> {
    return (await this.#all()).findDamage();
  }

  terms(): Promise<readonly BoardTerm[]> {
    return Promise.resolve([onlyTerm]);
  }

  server(): Promise<BoardServer | null> {
    return Promise.resolve(null);
  }

  connection(): Promise<null> {
    return Promise.resolve(null);
  }

  async requireCurrent(): Promise<void> {
    return (await this.#all()).requireCurrent();
  }

  async close(): Promise<void> {
    const { database } = this.#connection;
    try {
      await (await this.#loaded())?.board.close();
    } finally {
      if (database.isOpen) database.close();
    }
  }

  async #all(): Promise<Board> {
    this.#whole ??= this.#load().catch((error: unknown) => {
      this.#whole = undefined;
      throw error;
    });
    return (await this.#whole).board;
  }

  /** Undefined when no write has asked for the rest, or when it could not be loaded: then no transaction is open. */
  #loaded(): Promise<WholeBoard | undefined> | undefined {
    return this.#whole?.catch(() => undefined);
  }
}
