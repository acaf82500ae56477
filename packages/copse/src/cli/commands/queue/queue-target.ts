/** The branch whose queue a command is about. */

import { type RunContext } from '../../../queue/context.ts';
import { targetOf } from '../../../queue/act/landing-target.ts';
import type { BranchName } from '../../../kernel/ids.ts';
import { fail } from '../../failure.ts';

export async function requireTarget(context: RunContext, named: string | undefined): Promise<BranchName> {
  if (named !== undefined) {
    const isKnown =
      (await context.git.tip(`refs/heads/${named}`)) !== undefined ||
      (await context.board.openLandings()).some(({ target }) => target === named);
    if (isKnown) return named as BranchName;
    return fail('not_found', `This repository has no branch ${JSON.stringify(named)}.`, 'copse queue');
  }
  const usual = await targetOf(context, undefined);
  return usual ?? fail('invalid', 'There is no branch to land on.', 'copse config show');
}
