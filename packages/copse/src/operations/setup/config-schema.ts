import { type SchemaNode, configJsonSchema } from '../../config/problems/describe.ts';

export async function act(): Promise<SchemaNode> {
  return configJsonSchema();
}

export function view(schema: SchemaNode): SchemaNode {
  return schema;
}
