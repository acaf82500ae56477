/** Performs an operation for a caller whose input the compiler has not seen: HTTP, MCP, programs. */

import type { Access } from './access.ts';
import { refuseSession } from './callers.ts';
import { OperationFailed, fail } from './failure.ts';
import type { Operation } from './operation.ts';
import { withNextSteps } from './refused.ts';

/** Performs it with an access of the surface. */
export type Perform = (operation: Operation, input: unknown) => Promise<unknown>;

/** Returns its view. Fails with `OperationFailed`, also when the input has another shape. */
export async function perform(operation: Operation, access: Access, given: unknown): Promise<unknown> {
  refuseSession(operation, access.env, given);
  const { input } = await operation.shape();
  const { unfitField, wrongInputText } = await import('./wrong-input.ts');
  const unfit = unfitField(given);
  if (unfit !== undefined) fail('invalid', unfit, `copse ${operation.command} --help`);
  const read = input.safeParse(given);
  if (read.success) return performRead(operation, access, read.data);
  const { jsonSchemaOf } = await import('./shapes/json-schema.ts');
  const fields = Object.keys(jsonSchemaOf(input)['properties'] ?? {});
  const text = wrongInputText(read.error.issues, given, fields);
  return fail('invalid', text, `copse ${operation.command} --help`);
}

/** With an input that fits its shape. A refusal names the commands that work in the present state of its task. */
export async function performRead(operation: Operation, access: Access, input: unknown): Promise<unknown> {
  const { act, view } = await operation.load();
  try {
    return view(await act(access, input as never));
  } catch (error) {
    if (!(error instanceof OperationFailed)) throw error;
    throw new OperationFailed(await withNextSteps(access, error.failure));
  }
}
