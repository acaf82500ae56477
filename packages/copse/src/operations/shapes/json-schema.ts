/** Shapes as JSON Schema 2020-12, for callers that know no zod. */

import { type ZodType, z } from 'zod';

export function jsonSchemaOf(shape: ZodType): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(shape);
}
