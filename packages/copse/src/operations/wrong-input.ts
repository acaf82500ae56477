/** Sentences about an input that its shape refuses. */

import type { z } from 'zod';

import { nearest } from '../config/problems/nearest.ts';

type Issue = z.core.$ZodIssue;

/** A list of a hundred thousand entries costs seconds to look at, before any of it is refused. */
const MOST_ENTRIES = 1_000;

/** A sentence about a field with too many entries; undefined if there is none. */
export function tooManyEntries(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const [name] =
    Object.entries(given).find(([, value]) => Array.isArray(value) && value.length > MOST_ENTRIES) ?? [];
  return name && `The field ${named([name])} must have at most ${MOST_ENTRIES} entries.`;
}

/** The first few problems: more would not be read. */
export function wrongInputText(issues: readonly Issue[], given: unknown, fields: readonly string[]): string {
  return issues
    .slice(0, MOST)
    .map((issue) => sentence(issue, given, fields))
    .join(' ');
}

const MOST = 3;

function sentence(issue: Issue, given: unknown, fields: readonly string[]): string {
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const isTop = issue.path.length === 0;
    const near = isTop ? nearest(key, fields) : undefined;
    const meant = near === undefined ? '' : ` Did you mean ${near}?`;
    const known = isTop && fields.length > 0 ? ` Fields: ${fields.join(', ')}.` : '';
    return `The field ${named([...issue.path, key])} is unknown.${meant}${known}`;
  }
  const name = named(issue.path);
  if (valueAt(given, issue.path) === undefined) return `The field ${name} is missing.`;
  return `The field ${name} ${must(issue)}.`;
}

function must(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must ${amount(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${amount(issue.origin, 'at most', issue.maximum)}`;
    default:
      return `does not fit: ${issue.message}`;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

function amount(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'array') return `have ${bound} ${limit} ${Number(limit) === 1 ? 'entry' : 'entries'}`;
  if (origin === 'string')
    return `have ${bound} ${limit} ${Number(limit) === 1 ? 'character' : 'characters'}`;
  return `be ${bound} ${limit}`;
}

/** Huge names are cut. */
function named(path: readonly PropertyKey[]): string {
  const text = path.map(String).join('.');
  return JSON.stringify(text.length > LONG ? `${text.slice(0, LONG)}…` : text);
}

const LONG = 60;

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    given,
  );
}
