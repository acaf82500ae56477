/** Every operation of the registry as an MCP tool, for the assistant of a person. */

import type { Operation } from '../../operations/operation.ts';
import { type JsonSchema, wholeSchemaOf } from '../../operations/shapes/json-schema.ts';

export interface OperationTool {
  readonly operation: Operation;
  /** As `tools/list` tells it. */
  readonly listed: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly inputSchema: JsonSchema & { readonly type: 'object' };
    readonly annotations: {
      readonly title: string;
      readonly readOnlyHint: boolean;
      readonly destructiveHint: boolean;
      readonly idempotentHint: boolean;
    };
  };
}

export async function toolsOf(operations: readonly Operation[]): Promise<readonly OperationTool[]> {
  return Promise.all(operations.filter(({ callers }) => callers.includes('person')).map(toolOf));
}

/** Many programs refuse a dot in the name of a tool. */
function toolName({ name }: Pick<Operation, 'name'>): string {
  return name.replaceAll('.', '_');
}

async function toolOf(operation: Operation): Promise<OperationTool> {
  const { title, description, effect, undo, isRepeatable } = operation;
  const { input } = await operation.shape();
  return {
    operation,
    listed: {
      name: toolName(operation),
      title,
      description: undo === undefined ? description : `${description} ${undo}`,
      inputSchema: withConfirmation(operation, wholeSchemaOf(input, 'input')),
      annotations: {
        title,
        readOnlyHint: effect === 'reads',
        destructiveHint: effect === 'destroys',
        idempotentHint: isRepeatable,
      },
    },
  };
}

/** The field by which a caller says that its person agreed. No operation has a field of this name. */
export const CONFIRM = 'confirm';

function withConfirmation(
  { name, effect }: Operation,
  schema: JsonSchema,
): JsonSchema & { readonly type: 'object' } {
  if (effect !== 'destroys') return { ...schema, type: 'object' };
  const { properties, required } = schema as { properties?: object; required?: readonly string[] };
  const field = {
    type: 'string',
    const: name,
    description: 'Only after the person agreed to exactly this; what it destroys is in the description.',
  };
  return {
    ...schema,
    type: 'object',
    properties: { ...properties, [CONFIRM]: field },
    required: [...(required ?? []), CONFIRM],
  };
}
