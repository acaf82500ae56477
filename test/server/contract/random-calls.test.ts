/**
 * Random input for every operation, against a running server: never a fault of the server, and every answer has its shape.
 * Inputs are drawn from the shapes, so a new operation is tried without a change here.
 */

import { randomUUID } from 'node:crypto';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Operation } from '../../../packages/copse/src/operations/operation.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { jsonSchemaOf } from '../../../packages/copse/src/operations/shapes/json-schema.ts';
import { problemStatuses } from '../../../packages/copse/src/server/rules/problem.ts';
import { answer, newArea, newRepository } from '../../support/cli.ts';
import { isLong } from '../../support/long.ts';
import type { Got, Served } from '../../support/server/served.ts';
import { call, serveRepository } from '../../support/server/served-repository.ts';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

type Fields = Readonly<Record<string, unknown>>;

const area = newArea();
let served: Served;
/** By the name of the field that takes them. */
const known: Record<string, readonly string[]> = {};
beforeAll(async () => {
  const cwd = newRepository(area);
  const added = async (...argv: readonly string[]) => (await answer<{ id: string }>(argv, { cwd })).id;
  const tasks = [await added('add', 'Live'), await added('add', 'Cancelled')];
  await answer(['cancel', tasks[1] ?? ''], { cwd });
  Object.assign(known, { task: tasks, tasks, dependsOn: tasks, plan: [await added('plan', 'add', 'Plan')] });
  served = await serveRepository(cwd);
});
afterAll(() => served[Symbol.asyncDispose]());

const text = fc.string({ unit: 'grapheme', maxLength: 12 });

function valuesOf(schema: Schema, name: string, defs: NonNullable<Schema['$defs']>): fc.Arbitrary<unknown> {
  const { $ref, enum: values, anyOf, type, items = {}, properties = {}, required = [] } = schema;
  if ($ref !== undefined) return valuesOf(defs[$ref.replace('#/$defs/', '')] ?? {}, name, defs);
  if (values !== undefined) return fc.constantFrom(...values);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => valuesOf(one, name, defs)));
  // A drawn text must not become a program.
  if (name === 'command' || name === 'accept') return fc.constant(type === 'array' ? [] : 'true');
  if (type === 'string')
    return Object.hasOwn(known, name)
      ? fc.oneof(
          { arbitrary: text, weight: 1 },
          { arbitrary: fc.constantFrom(...(known[name] ?? [])), weight: 3 },
        )
      : text;
  if (type === 'integer' || type === 'number') return fc.integer({ min: schema.minimum ?? -5, max: 50 });
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (type === 'array')
    return fc.array(valuesOf(items, name, defs), { minLength: schema.minItems ?? 0, maxLength: 3 });
  const drawn = Object.entries(properties).map(([key, one]) => [key, valuesOf(one, key, defs)] as const);
  return fc.record(Object.fromEntries(drawn), { requiredKeys: [...required] });
}

function send({ http, name, effect, creates }: Operation, input: Fields, key: string): Promise<Got> {
  const rest = new Map(Object.entries(input));
  const written = http.path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest.get(field);
    rest.delete(field);
    return encodeURIComponent(asText(value) || 'x');
  });
  const headers = {
    ...(effect === 'destroys' && { confirm: name }),
    ...(creates && { 'idempotency-key': key }),
  };
  if (http.method === 'POST' || http.method === 'PATCH')
    return call(served, `${http.method} ${written}`, { body: Object.fromEntries(rest), headers });
  const query = [...rest].map(
    ([field, value]) => `${encodeURIComponent(field)}=${encodeURIComponent(asText(value))}`,
  );
  return call(served, `${http.method} ${written}${query.length > 0 ? `?${query.join('&')}` : ''}`, {
    headers,
  });
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return Array.isArray(value)
    ? value.map(asText).join(',')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
}

async function expectSound(operation: Operation, input: Fields, key: string): Promise<void> {
  const { status, body } = await send(operation, input, key);
  const seen = { input, status, body, problems: served.problems };
  if (status < 300) {
    const { output } = await operation.shape();
    expect({ ...seen, refused: output.safeParse(JSON.parse(body)).error }).toEqual({
      ...seen,
      refused: undefined,
    });
    return;
  }
  expect(seen).toMatchObject({
    status: expect.toSatisfy((one: number) => one >= 400 && one < 500) as number,
  });
  const { code, detail, next } = JSON.parse(body) as {
    code: string;
    detail: string;
    next: readonly string[];
  };
  expect({ ...seen, known: Object.keys(problemStatuses) }).toMatchObject({
    known: expect.arrayContaining([code]) as string[],
  });
  expect({ detail, next }).toEqual({
    detail: expect.stringMatching(/\S/),
    next: expect.any(Array) as string[],
  });
}

const options = { numRuns: isLong ? 100 : 3, interruptAfterTimeLimit: isLong ? 60_000 : 2_000 };

/** The first one is sure to find what it names, if it needs nothing but that. */
function exampleOf({ http }: Operation, { required = [] }: Schema): readonly [Fields, string][] {
  const inPath = Array.from(http.path.matchAll(/\{(\w+)\}/g), ([, field = '']) => field);
  const fields = [...new Set([...required, ...inPath])].map((name) => [name, known[name]?.[0]] as const);
  return fields.every(([, value]) => value !== undefined) ? [[Object.fromEntries(fields), randomUUID()]] : [];
}

describe('any input of the shape', () => {
  test.each(operations)('$name', async (operation) => {
    const schema = jsonSchemaOf((await operation.shape()).input) as Schema;
    const inputs = valuesOf(schema, '', schema.$defs ?? {}) as fc.Arbitrary<Fields>;
    await fc.assert(
      fc.asyncProperty(inputs, fc.uuid(), (input, key) => expectSound(operation, input, key)),
      { ...options, examples: exampleOf(operation, schema).map(([input, key]) => [input, key]) },
    );
  });
});

describe('any other input', () => {
  test.each(operations)('$name', async (operation) => {
    const schema = jsonSchemaOf((await operation.shape()).input) as Schema;
    const inputs = valuesOf(schema, '', schema.$defs ?? {}) as fc.Arbitrary<Fields>;
    const names = fc.oneof(
      fc.constantFrom('x', '__proto__', 'constructor', ...Object.keys(schema.properties ?? {})),
      text,
    );
    const strange = fc.oneof(fc.jsonValue({ maxDepth: 2 }), text);
    await fc.assert(
      fc.asyncProperty(inputs, names, strange, fc.uuid(), (input, name, value, key) => {
        if (name === 'command' || name === 'accept') return Promise.resolve();
        return expectSound(operation, Object.fromEntries([...Object.entries(input), [name, value]]), key);
      }),
      options,
    );
  });
});
