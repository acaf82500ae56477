/**
 * Queries that are compiled once and run often.
 *
 * Building a query takes several times as long as running it, and a claim would hold the write lock meanwhile. So a query
 * is built once with placeholders, and later only gets its values.
 */

import { type Compilable, CompiledQuery, type Expression, sql } from 'kysely';

import { type RunQuery, type Dialect, textOf } from './query.ts';
import type { Queries } from './schema.ts';

/** A placeholder for a value of the column's type. */
export type Marker = (name: string) => never;

export interface Statement {
  readonly sql: string;
  readonly names: readonly string[];
  /** The last statement of its transaction, whose answer is not needed. */
  readonly isLast?: boolean;
}

export type Values = Readonly<Record<string, unknown>>;

class ParameterPlace {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

interface StatementEngine {
  readonly db: Queries;
  prepare(this: void, statement: Statement): void;
  readonly terms?: { readonly isCurrent: Expression<boolean> } | undefined;
}

export class Statements {
  readonly #db: Queries;
  readonly #onKeep: (statement: Statement) => void;
  readonly #known = new Map<string, Statement>();
  /** Whether the board may be written; see Engine.terms. */
  readonly isCurrent: Expression<boolean>;

  constructor({ db, prepare, terms }: StatementEngine) {
    this.isCurrent = terms?.isCurrent ?? sql<boolean>`true`;
    this.#db = db;
    this.#onKeep = prepare;
  }

  get(key: string, build: (db: Queries, value: Marker) => Compilable): Statement {
    const known = this.#known.get(key);
    if (known) return known;
    const { sql: text, parameters } = build(this.#db, (name) => new ParameterPlace(name) as never).compile();
    const names = parameters.map((parameter) => {
      if (parameter instanceof ParameterPlace) return parameter.name;
      throw new Error(`${key} has a value of its own in it: ${String(parameter)}`);
    });
    return this.keep(key, { sql: text, names });
  }

  /** For statements that are put together from others. */
  keep(key: string, statement: Statement): Statement {
    this.#known.set(key, statement);
    this.#onKeep(statement);
    return statement;
  }

  find(key: string): Statement | undefined {
    return this.#known.get(key);
  }
}

export async function run<Row>(
  db: Queries,
  { sql: text, names }: Statement,
  values: Values,
): Promise<readonly Row[]> {
  const parameters = names.map((name) => values[name]);
  const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, parameters));
  return rows;
}

/** Asks the database, or the transaction, that the queries are of. */
export function askOf(db: Queries, dialect: Dialect): RunQuery {
  return async <Row>(query: Parameters<RunQuery>[0]) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(textOf(query, dialect), [...query.values]))).rows;
}
