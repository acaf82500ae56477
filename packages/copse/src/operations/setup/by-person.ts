/** Operations that give power are refused to sessions here too, whatever the surface let through. */

import { isPerson } from '../../board/rules/author.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';

export function refuseSession({ env }: Pick<Access, 'env'>, act: string): void {
  if (!isPerson(env))
    fail(
      'not_this_session',
      `An agent cannot ${act}.`,
      'copse stuck --reason "…" # to ask a person to do it',
    );
}
