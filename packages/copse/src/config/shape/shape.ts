/**
 * The schema of copse.yml as data, and what reads a file by it: building the schema itself takes as long as starting Node,
 * and what is read by the shape comes out the same (test/config/shape.test.ts).
 *
 * The build derives the shape from the schema (scripts/config-shape.mjs); sources have none. Whatever does not fit, and
 * whatever the shape cannot express, is left to the schema, which also says what is wrong.
 */

import { rules } from './rules.ts';
import type { Config } from '../schema.ts';

export type Shape =
  | {
      readonly is: 'text';
      readonly min: number;
      readonly max: number | null;
      readonly patterns: readonly string[];
    }
  | { readonly is: 'flag' }
  | {
      readonly is: 'number';
      readonly isWhole: boolean;
      readonly min: number | null;
      readonly max: number | null;
      readonly above: number | null;
    }
  | { readonly is: 'choice'; readonly values: readonly (string | number)[] }
  | { readonly is: 'list'; readonly of: Shape; readonly min: number }
  | { readonly is: 'record'; readonly key: Shape; readonly of: Shape }
  | { readonly is: 'section'; readonly keys: Readonly<Record<string, Shape>> }
  | { readonly is: 'either'; readonly of: readonly Shape[] }
  | { readonly is: 'optional'; readonly of: Shape }
  | { readonly is: 'filled'; readonly of: Shape; readonly with: unknown }
  | { readonly is: 'changed'; readonly of: Shape; readonly by: keyof typeof rules.changes }
  | { readonly is: 'checked'; readonly of: Shape; readonly by: keyof typeof rules.checks }
  | { readonly is: 'unknown' };

/** The build puts it here. */
const shape = (): Shape | null => null;

/** The settings of an empty file, as JSON. The build puts them here. */
const defaults: string | null = null;

/** Null in the sources. */
export function readDefaults(): Config | null {
  return defaults === null ? null : (JSON.parse(defaults) as Config);
}

/** Undefined when only the schema can tell. */
export function readByShape(written: unknown, by: Shape | null = shape()): Config | undefined {
  const read = by === null ? unfit : fit(by, written);
  return read === unfit ? undefined : (read as Config);
}

const unfit = Symbol('unfit');

function fit(shape: Shape, value: unknown): unknown {
  switch (shape.is) {
    case 'text':
      return isText(shape, value) ? value : unfit;
    case 'flag':
      return typeof value === 'boolean' ? value : unfit;
    case 'number':
      return isNumber(shape, value) ? value : unfit;
    case 'choice':
      return shape.values.includes(value as string) ? value : unfit;
    case 'list':
      return fitList(shape, value);
    case 'record':
      return fitRecord(shape, value);
    case 'section':
      return fitSection(shape, value);
    case 'either':
      return first(shape.of, (one) => fit(one, value));
    case 'optional':
      return value === undefined ? undefined : fit(shape.of, value);
    case 'filled':
      return fit(shape.of, value === undefined ? shape.with : value);
    case 'changed':
      return after(fit(shape.of, value), (read) => rules.changes[shape.by](read as never));
    case 'checked':
      return after(fit(shape.of, value), (read) => {
        const issues: unknown[] = [];
        rules.checks[shape.by]({ value: read as never, issues });
        return issues.length === 0 ? read : unfit;
      });
    case 'unknown':
      return unfit;
    default:
      throw new Error(`There is no shape ${String(shape satisfies never)}`);
  }
}

function isText({ min, max, patterns }: Extract<Shape, { is: 'text' }>, value: unknown): boolean {
  if (typeof value !== 'string' || value.length < min || value.length > (max ?? Infinity)) return false;
  return patterns.every((pattern) => new RegExp(pattern).test(value));
}

function isNumber({ isWhole, min, max, above }: Extract<Shape, { is: 'number' }>, value: unknown): boolean {
  if (typeof value !== 'number' || !(isWhole ? Number.isSafeInteger(value) : Number.isFinite(value)))
    return false;
  return value >= (min ?? -Infinity) && value <= (max ?? Infinity) && value > (above ?? -Infinity);
}

function fitList({ of, min }: Extract<Shape, { is: 'list' }>, value: unknown): unknown {
  if (!Array.isArray(value) || value.length < min) return unfit;
  const items = value.map((item) => fit(of, item));
  return items.includes(unfit) ? unfit : items;
}

function fitRecord({ key, of }: Extract<Shape, { is: 'record' }>, value: unknown): unknown {
  if (!isMapping(value)) return unfit;
  const result: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const read = fit(of, item);
    if (read === unfit || fit(key, name) === unfit || name === '__proto__') return unfit;
    result[name] = read;
  }
  return result;
}

function fitSection({ keys }: Extract<Shape, { is: 'section' }>, value: unknown): unknown {
  if (!isMapping(value) || Object.keys(value).some((name) => !Object.hasOwn(keys, name))) return unfit;
  const result: Record<string, unknown> = {};
  for (const [name, of] of Object.entries(keys)) {
    const read = fit(of, value[name]);
    if (read === unfit) return unfit;
    if (read !== undefined || Object.hasOwn(value, name)) result[name] = read;
  }
  return result;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function first(shapes: readonly Shape[], read: (shape: Shape) => unknown): unknown {
  for (const one of shapes) {
    const value = read(one);
    if (value !== unfit) return value;
  }
  return unfit;
}

function after(read: unknown, work: (read: unknown) => unknown): unknown {
  return read === unfit ? unfit : work(read);
}
