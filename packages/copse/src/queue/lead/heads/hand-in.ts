/** Pushes a finished commit that this machine has, so that a leader on another machine can land it. */

import type { Landing } from '../../rules/landing.ts';
import type { RunContext } from '../../context.ts';
import { sharesWork } from '../../../workspaces/act/shared/share-work.ts';
import { originOf } from './bring.ts';

export async function handIn(context: RunContext, landing: Landing): Promise<void> {
  const { git, rescues, clock } = context;
  const { task, head } = landing;
  if (!(await sharesWork(context))) return;
  const { ref } = await originOf(context, landing);
  if (ref === undefined || (await git.tip(head)) === undefined) return;
  await git.work.push(ref, await rescues.wrap({ task, head, at: clock.now() }));
}
