/** Shapes as JSON Schema 2020-12, for callers that know no zod. */

import { type ZodType, z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** `input`: as a caller may give it; `output`: as it is after defaults were filled in. */
type Side = 'input' | 'output';

/** Its own type is at the top; named shapes inside it are in `$defs`. */
export function jsonSchemaOf(shape: ZodType, io: Side = 'output'): JsonSchema {
  const { $ref, ...schema } = namedSchemaOf(shape, io);
  if (typeof $ref !== 'string') return schema;
  const named = (schema['$defs'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return { ...schema, ...named[$ref.replace('#/$defs/', '')] };
}

/** The same with a reference at the top, if the shape has a name. */
export function namedSchemaOf(shape: ZodType, io: Side = 'output'): JsonSchema {
  return z.toJSONSchema(shape, { io });
}

/** Without `$ref`, which some readers do not follow. No shape contains itself. */
export function wholeSchemaOf(shape: ZodType, io: Side): JsonSchema {
  const { $schema: _, $defs = {}, ...schema } = jsonSchemaOf(shape, io);
  return inlined(schema, $defs as Readonly<Record<string, JsonSchema>>) as JsonSchema;
}

function inlined(value: unknown, defs: Readonly<Record<string, JsonSchema>>): unknown {
  if (Array.isArray(value)) return value.map((one) => inlined(one, defs));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    // Only a text is a reference or its name: a field of an input may be called so.
    if (typeof inner !== 'string') return [[name, inlined(inner, defs)]];
    if (name === '$ref') return Object.entries(inlined(defs[inner.replace('#/$defs/', '')], defs) as object);
    return name === 'id' ? [] : [[name, inner]];
  });
  return Object.fromEntries(entries);
}
