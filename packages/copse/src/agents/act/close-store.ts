/** Brings what an agent in a sandbox wrote into the repository, when its turn is over or its runner is gone. */

import { counted } from '../../kernel/text.ts';
import { BeyondLimits } from '../../kernel/unavailable.ts';
import type { StoreId, UnbroughtObject } from '../../git/port.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';

/** Throws `BeyondLimits` when an object is damaged or names one that is missing: that is for a person to look at. */
export async function closeStore(
  { git }: Pick<WorkspaceContext, 'git'>,
  { task, attempt }: StoreId,
): Promise<void> {
  const left = await git.stores.close({ task, attempt });
  const [first] = left;
  if (first !== undefined) throw unbrought(task, first, left.length);
}

function unbrought(task: StoreId['task'], { id, why }: UnbroughtObject, count: number): BeyondLimits {
  const which = count === 1 ? `The object ${id}` : `${counted(count, 'object')}, ${id} among them,`;
  return new BeyondLimits(
    `${which} of the agent of ${task} cannot be used: ${why}.`,
    `copse reset ${task} # to start it anew, if its branch cannot be read`,
  );
}
