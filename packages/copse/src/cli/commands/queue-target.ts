/** The queue that a command is about. */

import { type RunContext } from '../../queue/context.ts';
import { targetOf } from '../../queue/act/landing-target.ts';
import type { BranchName } from '../../kernel/ids.ts';
import { fail } from '../failure.ts';

export async function requireTarget(context: RunContext, named: string | undefined): Promise<BranchName> {
  if (named !== undefined) {
    const isKnown =
      (await context.git.tip(`refs/heads/${named}`)) !== undefined ||
      (await context.board.openLandings()).some(({ target }) => target === named);
    if (isKnown) return named as BranchName;
    return fail('not_found', `There is no branch ${JSON.stringify(named)} here.`, 'copse queue');
  }
  const usual = await targetOf(context, undefined);
  return usual ?? fail('invalid', 'There is no branch that work could land on.', 'copse config show');
}
