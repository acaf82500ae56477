/** Performs an operation for a caller whose input the compiler has not seen: HTTP, MCP, programs. */

import type { ZodError } from 'zod';

import { shown } from '../kernel/text.ts';
import type { Access } from './access.ts';
import { refuseSession } from './callers.ts';
import { fail } from './failure.ts';
import type { Operation } from './operation.ts';

/** Performs it with an access of the surface. */
export type Perform = (operation: Operation, input: unknown) => Promise<unknown>;

/** Returns its view. Fails with `OperationFailed`, also when the input has another shape. */
export async function perform(operation: Operation, access: Access, given: unknown): Promise<unknown> {
  refuseSession(operation, access.env, given);
  const { input } = await operation.shape();
  const read = input.safeParse(given);
  if (!read.success) failWrong(operation, read.error);
  const { act, view } = await operation.load();
  return view(await act(access, read.data as never));
}

const MOST_TOLD = 3;
const MOST_LENGTH = 200;

function failWrong({ name, command }: Operation, { issues }: ZodError): never {
  const told = issues.slice(0, MOST_TOLD).map(({ path, message }) => {
    const where = path.length === 0 ? '' : `${path.map(String).join('.')}: `;
    const text = `${where}${message.replace(/^Invalid input: /, '')}`;
    return shown(text.length > MOST_LENGTH ? `${text.slice(0, MOST_LENGTH)}…` : text);
  });
  const more = issues.length > MOST_TOLD ? `; and ${issues.length - MOST_TOLD} more` : '';
  return fail(
    'invalid',
    `The input of ${name} is wrong: ${told.join('; ')}${more}.`,
    `copse ${command} --help`,
  );
}
