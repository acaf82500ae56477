/** Shapes as JSON Schema 2020-12, for callers that know no zod. */

import { type ZodType, z } from 'zod';

type JsonSchema = Readonly<Record<string, unknown>>;

/** Its own type is at the top; named shapes inside it are in `$defs`. */
export function jsonSchemaOf(shape: ZodType): JsonSchema {
  const { $ref, ...schema } = namedSchemaOf(shape);
  if (typeof $ref !== 'string') return schema;
  const named = (schema['$defs'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return { ...schema, ...named[$ref.replace('#/$defs/', '')] };
}

/** The same with a reference at the top, if the shape has a name. */
export function namedSchemaOf(shape: ZodType): JsonSchema {
  return z.toJSONSchema(shape);
}
