/** The branch whose queue a command is about. */

import type { LookContext } from '../../queue/context.ts';
import { targetOf } from '../../queue/act/landing-target.ts';
import type { BranchName } from '../../kernel/ids.ts';
import { fail } from '../failure.ts';

export async function requireTarget(
  context: Pick<LookContext, 'board' | 'git' | 'target'>,
  named: string | undefined,
): Promise<BranchName> {
  if (named !== undefined) {
    const isKnown =
      (await context.git.tip(`refs/heads/${named}`)) !== undefined ||
      (await context.board.openLandings()).some(({ target }) => target === named);
    if (isKnown) return named as BranchName;
    return fail('not_found', `There is no branch ${JSON.stringify(named)}.`, 'copse queue');
  }
  const usual = await targetOf(context, undefined);
  return usual ?? fail('invalid', NO_TARGET, await remedyOfNoTarget(context));
}

export const NO_TARGET = 'There is no branch to land on.';

/** A repository without a commit has no branch; with one, settings name a branch that does not exist. */
export async function remedyOfNoTarget({ git }: Pick<LookContext, 'git'>): Promise<string> {
  const isEmpty = (await git.tip('HEAD')) === undefined;
  return isEmpty ? 'git commit --allow-empty --message="First commit"' : 'copse config show';
}
