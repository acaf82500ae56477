/**
 * Every check of the server that an attack meets, and the edit that removes it. With the check removed, exactly these attacks
 * succeed: `run.ts` sees it, and `test/server/rules/attacks.test.ts` makes sure that each text is still there.
 */

import { agents } from './agents.ts';
import { inHead, secrets } from './at-the-door.ts';
import { amounts, sockets, words } from './inside.ts';
import { pages } from './pages.ts';
import type { RemovedCheck } from './removed-check.ts';

export const removedChecks: readonly RemovedCheck[] = [
  ...inHead,
  ...secrets,
  ...sockets,
  ...amounts,
  ...words,
  ...pages,
  ...agents,
];
