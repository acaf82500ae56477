import { withAccess } from '../../compose/operations/access.ts';
import type { Failure } from '../../operations/failure.ts';
import { withNextSteps as withNextStepsBy } from '../../operations/refused.ts';
import type { Cli } from '../invocation.ts';

export async function withNextSteps(cli: Cli, failure: Failure): Promise<Failure> {
  return withAccess(cli, (access) => withNextStepsBy(access, failure));
}
