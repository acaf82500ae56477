/** Pushes a finished commit that this machine has, so that a leader on another machine can land it. */

import type { Landing } from '../../rules/landing.ts';
import type { RunContext } from '../../context.ts';
import { shareHead } from '../../../workspaces/act/shared/share-work.ts';
import { originOf } from './bring.ts';

export async function handIn(context: RunContext, landing: Landing, signal: AbortSignal): Promise<void> {
  const { ref } = await originOf(context, landing);
  if (ref === undefined || (await context.git.tip(landing.head)) === undefined) return;
  await shareHead(context, ref, landing.head, { signal });
}
