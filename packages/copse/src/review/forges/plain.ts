/** A remote of which nothing is known but that one can push to it. */

import { shown } from '../../kernel/text.ts';
import type { BranchPushed, ForgeRemote, PullRequestOrder } from '../port.ts';

export async function pushPlainly(
  remote: ForgeRemote,
  { branch, head }: PullRequestOrder,
): Promise<BranchPushed> {
  const pushed = await remote.push(branch, head);
  return pushed.pushed ? { pushed: true, hint: hintIn(pushed.said) } : pushed;
}

/** Many remotes answer a push with the address where a person can go on. */
export function hintIn(said: readonly string[]): string | null {
  const [found] = said.flatMap((line) => /https?:\/\/[^\s<>"'`]+/.exec(line) ?? []);
  return found === undefined ? null : shown(found);
}
