/**
 * The schema as JSON Schema: for editors, the reference page, the suggestions in problems and `copse config`.
 */
import * as z from 'zod';
import { configSchema } from '../schema.ts';

/** The part of JSON Schema that `configSchema` produces. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly (string | number)[];
  readonly const?: string | number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
}

let cached: SchemaNode | undefined;

/** Draft 7, which the YAML support of common editors understands best. */
export function configJsonSchema(): SchemaNode {
  cached ??= {
    title: 'Copse configuration',
    description: 'copse.yml at the root of a repository. Every key is optional.',
    ...(z.toJSONSchema(configSchema, {
      target: 'draft-7',
      io: 'input',
      override: ({ jsonSchema }) => {
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.type === 'object' && isEmptyObject(jsonSchema.default)) allowNothing(jsonSchema);
      },
    }) as SchemaNode),
  };
  return cached;
}

export interface KeyDescription {
  /** Dotted, with `<name>` where the user chooses the word. */
  readonly key: string;
  /** The `type` beside it that this key belongs to, such as `github`. */
  readonly variant?: string;
  readonly type: string;
  readonly default?: unknown;
  readonly required: boolean;
  readonly description: string;
}

/** Every key, parents before children, in the order of the schema. */
export function describeConfig(): readonly KeyDescription[] {
  return keysOf(configJsonSchema(), '');
}

/** The alternatives of a union, or the node itself. */
export function alternatives(node: SchemaNode): readonly SchemaNode[] {
  const options = node.anyOf ?? node.oneOf;
  return options === undefined ? [node] : options.flatMap(alternatives);
}

/** The alternatives whose fixed values (such as `type: github`) agree with what is written. */
export function alternativesFor(node: SchemaNode, written: unknown): readonly SchemaNode[] {
  const agreeing = alternatives(node).filter((option) =>
    Object.entries(option.properties ?? {}).every(
      ([key, { const: fixed }]) => fixed === undefined || valueOf(written, key) === fixed,
    ),
  );
  return agreeing.length > 0 ? agreeing : alternatives(node);
}

/** What is below a key: a named property, or the one schema for names that the user chooses. */
export function child(node: SchemaNode, key: string | number): SchemaNode | undefined {
  if (typeof key === 'number') return node.items;
  const { properties, additionalProperties } = node;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return additionalProperties === false ? undefined : additionalProperties;
}

export function valueOf(container: unknown, key: string | number): unknown {
  if (typeof container !== 'object' || container === null || !Object.hasOwn(container, key)) return undefined;
  return (container as Readonly<Record<string | number, unknown>>)[key];
}

function keysOf(node: SchemaNode, prefix: string): readonly KeyDescription[] {
  const keys: KeyDescription[] = [];
  for (const { properties = {}, additionalProperties: named, required = [] } of alternatives(node)) {
    const variant = Object.values(properties).find((property) => property.const !== undefined);
    for (const [name, property] of Object.entries(properties)) {
      const key = describeKey(property, `${prefix}${name}`, required.includes(name));
      const isShared = variant === undefined || property === variant;
      keys.push(
        isShared ? key : { ...key, variant: String(variant.const) },
        ...keysOf(property, `${key.key}.`),
      );
    }
    if (named === undefined || named === false) continue;
    const key = describeKey(named, `${prefix}<name>`, false);
    keys.push(...(key.description === '' ? [] : [key]), ...keysOf(named, `${key.key}.`));
  }
  return keys;
}

function describeKey(node: SchemaNode, key: string, required: boolean): KeyDescription {
  return {
    key,
    type: typeOf(node),
    ...(node.default === undefined || isEmptyObject(node.default) ? {} : { default: node.default }),
    required,
    description: node.description ?? '',
  };
}

function typeOf(node: SchemaNode): string {
  if (node.title !== undefined) return node.title;
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((word) => `\`${String(word)}\``).join(', ');
  const options = node.anyOf ?? node.oneOf;
  if (options !== undefined) return [...new Set(options.map(typeOf))].join(' or ');
  if (node.items !== undefined) return `list of ${typeOf(node.items)}`;
  if (node.type === 'integer') return 'whole number';
  if (node.type === 'boolean') return '`true`, `false`';
  if (node.type === 'string') return 'text';
  return node.type === 'number' ? 'number' : 'mapping';
}

/** A section without keys is valid, so editors must accept it too. */
function allowNothing(node: { type?: unknown }): void {
  node.type = ['object', 'null'];
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  );
}
