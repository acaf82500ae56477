// Derives from a zod schema the shape that packages/copse/src/config/shape/shape.ts reads files by.
//
// Whatever is not known here becomes `unknown`, and a file that comes across it is read by the schema itself.

import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const EMPTY = 'const shape = (): Shape | null => null;';
const NO_DEFAULTS = 'const defaults: string | null = null;';

/** A bundler plugin: puts the shape where the sources have none. */
export function configShape() {
  return {
    name: 'config-shape',
    async transform(code, id) {
      if (!/[\\/]config[\\/]shape[\\/]shape\.ts$/.test(id)) return undefined;
      for (const line of [EMPTY, NO_DEFAULTS])
        if (!code.includes(line)) throw new Error(`${id} has no line to replace: ${line}`);
      const { configSchema } = await import(join(dirname(id), '..', 'schema.ts'));
      const { rules } = await import(join(dirname(id), 'rules.ts'));
      const text = JSON.stringify(JSON.stringify(shapeOf(configSchema, rules)));
      const defaults = JSON.stringify(defaultsOf(configSchema));
      const filled = code
        .replace(EMPTY, () => `const shape = () => JSON.parse(${text});`)
        .replace(NO_DEFAULTS, () => `const defaults = ${defaults};`);
      return { code: filled, map: null };
    },
  };
}

/** The settings of an empty file, which JSON must be able to hold. */
function defaultsOf(schema) {
  const settings = schema.parse({});
  const text = JSON.stringify(settings);
  if (!isDeepStrictEqual(JSON.parse(text), settings))
    throw new Error('The default settings are not plain JSON');
  return text;
}

/** `rules` are the functions that a shape may name. */
export function shapeOf(schema, rules) {
  const { def } = schema._zod;
  const inner = () => shapeOf(def.innerType, rules);
  const shape = shapeWithoutChecks(schema, rules, inner);
  return (def.checks ?? []).reduce((of, check) => withCheck(of, check, rules), shape);
}

function shapeWithoutChecks(schema, rules, inner) {
  const { def } = schema._zod;
  switch (def.type) {
    case 'string':
      return def.format === undefined ? { is: 'text', min: 0, max: null, patterns: [] } : UNKNOWN;
    case 'boolean':
      return { is: 'flag' };
    case 'number': {
      const isKnown = def.format === undefined || def.format === 'safeint';
      const isWhole = def.format === 'safeint';
      return isKnown ? { is: 'number', isWhole, min: null, max: null, above: null } : UNKNOWN;
    }
    case 'enum':
      return { is: 'choice', values: Object.values(def.entries) };
    case 'literal':
      return { is: 'choice', values: def.values };
    case 'array':
      return { is: 'list', of: shapeOf(def.element, rules), min: 0 };
    case 'record':
      return { is: 'record', key: shapeOf(def.keyType, rules), of: shapeOf(def.valueType, rules) };
    case 'object':
      return isStrict(def) ? { is: 'section', keys: keysOf(def.shape, rules) } : UNKNOWN;
    case 'union':
      return { is: 'either', of: def.options.map((option) => shapeOf(option, rules)) };
    case 'optional':
      return { is: 'optional', of: inner() };
    case 'prefault':
      return { is: 'filled', of: inner(), with: def.defaultValue };
    case 'pipe':
      return changed(shapeOf(def.in, rules), def.out._zod.def, rules);
    default:
      return UNKNOWN;
  }
}

const UNKNOWN = { is: 'unknown' };

function isStrict({ catchall }) {
  return catchall?._zod.def.type === 'never';
}

function keysOf(keys, rules) {
  return Object.fromEntries(Object.entries(keys).map(([name, schema]) => [name, shapeOf(schema, rules)]));
}

function changed(of, { type, transform }, { changes }) {
  const by = type === 'transform' ? nameOf(transform, changes) : undefined;
  return by === undefined ? UNKNOWN : { is: 'changed', of, by };
}

function withCheck(of, check, { checks }) {
  if (of === UNKNOWN) return of;
  const { def } = check._zod;
  switch (def.check) {
    case 'min_length':
      return { ...of, min: def.minimum };
    case 'max_length':
      return of.is === 'text' ? { ...of, max: def.maximum } : UNKNOWN;
    case 'string_format':
      return def.format === 'regex' && def.pattern.flags === ''
        ? { ...of, patterns: [...of.patterns, def.pattern.source] }
        : UNKNOWN;
    case 'number_format':
      return of;
    case 'greater_than':
      return def.inclusive ? { ...of, min: def.value } : { ...of, above: def.value };
    case 'less_than':
      return def.inclusive ? { ...of, max: def.value } : UNKNOWN;
    case 'custom': {
      const by = nameOf(check._zod.check, checks);
      return by === undefined ? UNKNOWN : { is: 'checked', of, by };
    }
    default:
      return UNKNOWN;
  }
}

function nameOf(wanted, functions) {
  return Object.keys(functions).find((name) => functions[name] === wanted);
}
