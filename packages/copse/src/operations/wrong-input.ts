/** Sentences about an input that its shape refuses. */

import type { z } from 'zod';

import { defaultPolicy } from '../kernel/policy.ts';
import { nearest } from '../config/problems/nearest.ts';

type Issue = z.core.$ZodIssue;

/** A sentence about a field that no shape looks at: with too many entries, or with half a character. */
export function unfitField(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { entries: most } = defaultPolicy.listedInput;
  const fields = Object.entries(given);
  const [long] = fields.find(([, value]) => Array.isArray(value) && value.length > most) ?? [];
  if (long !== undefined) return `The field ${named([long])} must have at most ${most} entries.`;
  const [half] = fields.find((field) => hasHalfCharacter(field)) ?? [];
  if (half === undefined) return undefined;
  return `The field ${named([half.toWellFormed()])} has half a character (a lone surrogate).`;
}

/** JSON can have one; no text in UTF-8 can, so other programs could not read what Copse answers. */
function hasHalfCharacter(given: unknown): boolean {
  // A list, because values can be nested deeper than calls.
  const left: unknown[] = [given];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string' && !value.isWellFormed()) return true;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, one] of Object.entries(value)) left.push(name, one);
  }
  return false;
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
