/** What copse.yml comes to by the shape that the build derives, held against what its schema makes of the same values. */

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { configSchema } from '../../packages/copse/src/config/schema.ts';
import { rules } from '../../packages/copse/src/config/shape/rules.ts';
import { type Shape, readByShape } from '../../packages/copse/src/config/shape/shape.ts';
import { shapeOf } from '../../scripts/config-shape.mjs';

/** As a bundle has it: as text. */
const shape = JSON.parse(JSON.stringify(shapeOf(configSchema, rules))) as Shape;

const bySchema = (written: unknown) => {
  const parsed = configSchema.safeParse(written, { jitless: true });
  return parsed.success ? parsed.data : undefined;
};

describe('the shape of copse.yml', () => {
  test('expresses every key except those with an address', () => {
    const hooks = ['before_run', 'after_run', 'on_error'].map((hook) => `agents.<name>.hooks.${hook}.url`);
    expect(new Set(unknownIn(shape, []))).toEqual(new Set([...hooks, 'notifications.webhook']));
  });

  test.each([
    ['nothing', {}],
    ['an agent with nothing written', { agents: { coder: undefined } }],
    ['an installed agent', { agents: { claude: { runtime: 'claude' } } }],
    ['a command as agent', { agents: { command: { command: 'a b' } } }],
    ['a hook in one line', { agents: { a: { hooks: { on_error: 'x', after_run: ['y', 'z'] } } } }],
    ['a check in one line', { landing: { checks: { test: 'npm test' } } }],
    ['a schedule with a known source', withSchedule({ todo: { type: 'markdown', files: ['TODO.md'] } })],
  ])('reads %s as the schema does', (_, written) => {
    expect(readByShape(written, shape)).toEqual(configSchema.parse(written));
  });

  test.each([
    ['an unknown key', { landing: { chekcs: {} } }],
    ['a lease that ends before its renewal', { policy: { lease: '1s', lease_renewal: '2s' } }],
    ['a sandbox that contradicts', { agents: { a: { docker: { enabled: true }, sandbox: 'runtime' } } }],
    ['a schedule with an unknown source', withSchedule({})],
    ['a name that ends up in paths', { agents: { '../a': {} } }],
    ['a number without a unit', { policy: { lease: 30 } }],
    [
      'a name that only the prototype has',
      { agents: { a: { env: JSON.parse('{"__proto__":""}') as object } } },
    ],
    ['an address of a hook', { agents: { a: { hooks: { on_error: { url: 'https://example.com/' } } } } }],
    ['an address', { notifications: { webhook: 'https://example.com/' } }],
  ])('leaves %s to the schema', (_, written) => {
    expect(readByShape(written, shape)).toBeUndefined();
  });

  test('agrees with the schema on every file that it reads, and reads all that the schema accepts', () => {
    fc.assert(
      fc.property(valueOf(shape, 0), (written) => {
        expect(readByShape(written, shape)).toEqual(bySchema(written));
      }),
      { numRuns: 3_000 },
    );
  });

  test('has enough valid examples among the random ones', () => {
    const examples = fc.sample(valueOf(shape, 0), 1_000);
    expect(examples.filter((one) => bySchema(one) !== undefined).length).toBeGreaterThan(100);
  });
});

function withSchedule(sources: object): object {
  const nightly = { type: 'cron', cron: '0 3 * * *', work_source: 'todo' };
  return { agents: { a: { schedules: { nightly } } }, sources };
}

function unknownIn(shape: Shape, path: readonly string[]): readonly string[] {
  switch (shape.is) {
    case 'unknown':
      return [path.join('.')];
    case 'section':
      return Object.entries(shape.keys).flatMap(([key, of]) => unknownIn(of, [...path, key]));
    case 'either':
      return shape.of.flatMap((one) => unknownIn(one, path));
    case 'record':
      return unknownIn(shape.of, [...path, '<name>']);
    case 'list':
    case 'optional':
    case 'filled':
    case 'changed':
    case 'checked':
      return unknownIn(shape.of, path);
    default:
      return [];
  }
}

const texts = [
  '',
  ' ',
  'a',
  'main',
  'npm test',
  'ünï',
  '../x',
  '{task}/{slug}',
  '{oops}',
  'wip: {summary}',
  'x.lock',
  '0',
  '0s',
  '30s',
  '5m',
  '100d',
  '2GB',
  '85%',
  '101%',
  'postgres://db.example/x',
  '0 3 * * *',
  'owner/name',
  'N_1',
];
const anything = fc.oneof(
  fc.constantFrom<unknown>(...texts, null, undefined, true, 0, 1, -1, 1.5, 300, 1e9, [], {}, ['a'], {
    a: 'b',
  }),
);

/** Mostly what fits, at times something else; deeper values are less often wrong, or nearly all would be. */
function valueOf(shape: Shape, depth: number): fc.Arbitrary<unknown> {
  const fitting = fittingValueOf(shape, depth);
  return fc.oneof({ arbitrary: fitting, weight: 60 * (depth + 1) }, { arbitrary: anything, weight: 1 });
}

function fittingValueOf(shape: Shape, depth: number): fc.Arbitrary<unknown> {
  const inner = (of: Shape) => valueOf(of, depth + 1);
  switch (shape.is) {
    case 'text': {
      const usual = texts.filter((text) => shape.patterns.every((pattern) => new RegExp(pattern).test(text)));
      return usual.length === 0 ? fc.constantFrom(...texts) : fc.constantFrom(...usual);
    }
    case 'flag':
      return fc.boolean();
    case 'number':
      return fc.oneof(fc.integer({ min: shape.min ?? 0, max: shape.max ?? 10 }), fc.constant(0.5));
    case 'choice':
      return fc.constantFrom(...shape.values);
    case 'list':
      return fc.array(inner(shape.of), { maxLength: 3 });
    case 'record':
      return fc.dictionary(fittingValueOf(shape.key, depth) as fc.Arbitrary<string>, inner(shape.of), {
        maxKeys: 2,
      });
    case 'section': {
      const keys = Object.entries(shape.keys).map(([key, of]) => [key, inner(of)] as const);
      return fc.record(Object.fromEntries(keys), { requiredKeys: [] }).chain((whole) =>
        // Few keys at a time: each may be wrong, and with all of them something always is.
        fc
          .subarray(Object.keys(whole), { maxLength: Math.min(4, Object.keys(whole).length) })
          .map((kept) => Object.fromEntries(kept.map((key) => [key, whole[key]]))),
      );
    }
    case 'either':
      return fc.oneof(...shape.of.map(inner));
    case 'optional':
    case 'filled':
      return fc.option(inner(shape.of), { nil: undefined });
    case 'changed':
    case 'checked':
      return fittingValueOf(shape.of, depth);
    case 'unknown':
      return fc.constant(undefined);
    default:
      throw new Error(`There is no shape ${String(shape satisfies never)}`);
  }
}
