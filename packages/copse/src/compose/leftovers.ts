/** What is left of tasks in the repository: to be tidied up. */

import { openTrustedDir } from '../git/directory/trusted-dir.ts';
import type { Leftovers } from '../workspaces/ports/leftovers.ts';
import { openLeftovers as openIn } from '../workspaces/trash/leftovers.ts';
import { type Surroundings, requireRepository } from './open.ts';

export function openLeftovers(surroundings: Surroundings): Leftovers {
  return openIn(openTrustedDir(requireRepository(surroundings)));
}
