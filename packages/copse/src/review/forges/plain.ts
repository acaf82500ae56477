/** Pushes to a remote without a known forge. */

import { shown } from '../../kernel/text.ts';
import type { BranchPushed, ForgeRemote, PullRequestOrder } from '../port.ts';

export async function pushPlainly(
  remote: ForgeRemote,
  { branch, head }: PullRequestOrder,
): Promise<BranchPushed> {
  const pushed = await remote.push(branch, head);
  return pushed.kind === 'pushed' ? { kind: 'pushed', hint: hintIn(pushed.said) } : pushed;
}

/** Many remotes answer a push with an address for opening a pull request. */
export function hintIn(said: readonly string[]): string | null {
  const [found] = said.flatMap((line) => /https?:\/\/[^\s<>"'`]+/.exec(line) ?? []);
  return found === undefined ? null : shown(found);
}
