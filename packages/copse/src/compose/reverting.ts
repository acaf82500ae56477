/** What undoing a landing needs besides all the rest. */

import { openReverting } from '../queue/merge/revert.ts';
import { openTrustedDir } from '../git/directory/trusted-dir.ts';
import { type Surroundings, requireRepository } from './open.ts';

export function revertingOf(surroundings: Surroundings): ReturnType<typeof openReverting> {
  return openReverting(openTrustedDir(requireRepository(surroundings)));
}
