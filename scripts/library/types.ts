// Writes the declarations of the library:
//
// - tsc writes those of all sources; those that index.d.ts does not reach are removed, and their problems do not count.
// - library/operations.d.ts derives from zod, which the package does not have. It is written anew from the shapes of the
//   registry, with the descriptions of operations and fields. test/library/package.test.ts compares the two.
//
//   node scripts/library/types.ts [folder]

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { methodOf } from '../../packages/copse/src/library/names.ts';
import { operations } from '../../packages/copse/src/operations/registry.ts';
import { wholeSchemaOf } from '../../packages/copse/src/operations/shapes/json-schema.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const [folder = path.join(root, 'packages', 'copse', 'dist', 'types')] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
const problems = emit();
writeFileSync(path.join(folder, 'library', 'operations.d.ts'), await declarations());
const reached = removeUnreached('index.d.ts');
const own = problems.filter(({ file }) => file === undefined || reached.has(file));
for (const { line } of own) console.error(line);
process.exitCode = own.length > 0 ? 1 : 0;

interface TypeProblem {
  readonly line: string;
  /** The declarations that it concerns; undefined for a problem of tsc as a whole. */
  readonly file: string | undefined;
}

function emit(): readonly TypeProblem[] {
  const argv = ['--project', 'tsconfig.build.json', '--pretty', 'false', '--outDir', folder];
  const { stdout } = spawnSync(path.join(root, 'node_modules', '.bin', 'tsc'), argv, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH']}` },
  });
  const lines = stdout.split('\n').filter((line) => /^\S.*error TS/.test(line));
  return lines.map((line) => {
    const source = /^packages\/copse\/src\/(.+)\.ts\(/.exec(line)?.[1];
    return { line, file: source && `${source}.d.ts` };
  });
}

async function declarations(): Promise<string> {
  const groups = new Map<string, string[]>();
  for (const { name, description, effect, undo, shape } of operations) {
    const { group, method } = methodOf(name);
    const { input, output } = await shape();
    const given = wholeSchemaOf(input, 'input') as Schema;
    const isNeeded = (given.required ?? []).length > 0;
    const remark = effect === 'destroys' ? `${description} Destroys: ${undo}` : description;
    const returned = typeOf(wholeSchemaOf(output, 'output'), 2);
    const line = `${indent(2)}${method}: (input${isNeeded ? '' : '?'}: ${typeOf(given, 2)}) => Promise<${returned}>;`;
    groups.set(group, [...(groups.get(group) ?? []), `${comment(remark, 2)}${line}`]);
  }
  const members = [...groups].map(([group, lines]) => `  readonly ${group}: {\n${lines.join('\n')}\n  };`);
  return [
    '/** Every operation of the registry. */',
    'export interface Operations {',
    ...members,
    '}',
    '',
  ].join('\n');
}

function typeOf(schema: Schema, depth: number): string {
  const { type, anyOf, oneOf } = schema;
  const choices = anyOf ?? oneOf;
  if (choices) return choices.map((one) => typeOf(one, depth)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(type))
    return type.map((one: string) => typeOf({ ...schema, type: one }, depth)).join(' | ');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      return arrayOf(schema, depth);
    case 'object':
      return objectOf(schema, depth);
    case undefined:
      return 'unknown';
    default:
      throw new Error(`There is no TypeScript for ${JSON.stringify(schema)} yet: add it to this script.`);
  }
}

function arrayOf({ items, prefixItems }: Schema, depth: number): string {
  if (prefixItems) return `[${prefixItems.map((one) => typeOf(one, depth)).join(', ')}]`;
  return `Array<${typeOf(items ?? {}, depth)}>`;
}

function objectOf(schema: Schema, depth: number): string {
  const { properties, required = [], propertyNames, additionalProperties } = schema;
  if (properties === undefined && typeof additionalProperties === 'object') {
    const record = `Record<${propertyNames ? typeOf(propertyNames, depth) : 'string'}, ${typeOf(additionalProperties, depth)}>`;
    return propertyNames?.enum && required.length === 0 ? `Partial<${record}>` : record;
  }
  const members = Object.entries(properties ?? {}).map(([name, inner]) => {
    const isRequired = required.includes(name);
    const type = typeOf(inner, depth + 1);
    const value = isRequired || type === 'unknown' ? type : `${type} | undefined`;
    const line = `${indent(depth + 1)}${name}${isRequired ? '' : '?'}: ${value};`;
    return `${comment(inner.description, depth + 1)}${line}`;
  });
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('\n')}\n${indent(depth)}}`;
}

function comment(text: string | undefined, depth: number): string {
  return text === undefined ? '' : `${indent(depth)}/** ${text.replaceAll('*/', '*∕')} */\n`;
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}

function removeUnreached(entry: string): ReadonlySet<string> {
  const found = new Set<string>();
  const reach = (file: string): void => {
    if (found.has(file) || !existsSync(path.join(folder, file))) return;
    found.add(file);
    const text = readFileSync(path.join(folder, file), 'utf8');
    for (const [, to = ''] of text.matchAll(/(?:from |import\()["'](\.[^"']+)["']/g))
      reach(path.join(path.dirname(file), to.replace(/\.ts$/, '.d.ts')));
  };
  reach(entry);
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const one of all.filter((entry) => entry.isFile())) {
    const file = path.relative(folder, path.join(one.parentPath, one.name));
    if (!found.has(file)) rmSync(path.join(folder, file));
  }
  return found;
}
