/** An operation, called as a server and the library call it: no command line, and its shapes applied in both directions. */

import { expect } from 'vitest';

import { withAccess } from '../../../packages/copse/src/compose/operations/access.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { plainEnv } from '../plain-env.ts';

export type Input = Readonly<Record<string, unknown>>;

export function operationNamed(name: string) {
  return operations.find((one) => one.name === name) ?? expect.fail(`There is no operation ${name}`);
}

export async function perform(
  name: string,
  given: Input,
  from: { readonly cwd: string; readonly env?: Readonly<Record<string, string | undefined>> },
): Promise<unknown> {
  const { load, shape } = operationNamed(name);
  const { input, output } = await shape();
  const { act, view } = await load();
  const wanted = input.parse(given) as never;
  return withAccess({ env: plainEnv, ...from }, async (access) =>
    output.parse(JSON.parse(JSON.stringify(view(await act(access, wanted))))),
  );
}
