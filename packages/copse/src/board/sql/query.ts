/** Reads as SQL text with their values apart: to build them with Kysely takes a command as long as to run them. */

/** Text and values take turns; text comes first and last. Tables are written in braces. */
export interface Query {
  readonly texts: readonly string[];
  readonly values: readonly unknown[];
}

/** Runs it, and returns its rows. */
export type RunQuery = <Row>(query: Query) => Promise<readonly Row[]>;

/** A given list becomes one value after another, and a given query a part of this one. */
export function query(texts: TemplateStringsArray, ...given: readonly unknown[]): Query {
  const all = { texts: [texts[0] ?? ''], values: [] as unknown[] };
  for (const [at, value] of given.entries()) {
    if (isQuery(value)) append(all, value);
    else if (Array.isArray(value)) append(all, listOf(value));
    else append(all, { texts: ['', ''], values: [value] });
    append(all, { texts: [texts[at + 1] ?? ''], values: [] });
  }
  return all;
}

/** Those of the conditions that are given; all of them must hold. */
export function where(...conditions: readonly (Query | null)[]): Query {
  const given = conditions.filter((one) => one !== null);
  return given.reduce((all, one, at) => (at === 0 ? query`where ${one}` : query`${all} and ${one}`), query``);
}

/** How an engine writes a value, the first being 1, and the name of a table. */
export interface Dialect {
  readonly value: (at: number) => string;
  readonly table: (name: string) => string;
}

export const plainDialect: Dialect = { value: () => '?', table: (name) => name };

export function textOf({ texts }: Query, { value, table }: Dialect): string {
  const text = texts.reduce((all, part, at) => `${all}${value(at)}${part}`);
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => table(name));
}

function listOf(values: readonly unknown[]): Query {
  const texts = ['', ...values.slice(1).map(() => ', '), ''];
  return values.length === 0 ? query`` : { texts, values };
}

function isQuery(value: unknown): value is Query {
  return typeof value === 'object' && value !== null && 'texts' in value;
}

function append(to: { texts: string[]; values: unknown[] }, { texts, values }: Query): void {
  const [first = '', ...rest] = texts;
  to.texts.push(`${to.texts.pop()}${first}`, ...rest);
  to.values.push(...values);
}
