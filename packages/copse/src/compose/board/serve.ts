/** What a server needs of this repository: its board, and the triggers of copse.yml. */

import { homedir } from 'node:os';

import type { Patience } from '../../board/patient.ts';
import type { Context } from '../../board/context.ts';
import { receiveRequest } from '../../intake/act/triggers.ts';
import type { TriggerDefinition } from '../../intake/rules/trigger.ts';
import { openSignatures } from '../../intake/signatures/verify.ts';
import { privateCache } from '../../kernel/system/private-cache.ts';
import type { Receive } from '../../server/open-doors.ts';
import type { WithAccess } from '../../server/routes.ts';
import { withAccess } from '../operations/access.ts';
import { type Surroundings, configOf, openContext, requireRepository } from '../open.ts';
import { intakeOf } from '../run/intake.ts';

export interface ServedBoard {
  readonly context: Context;
  readonly receive: Receive;
  readonly withAccess: WithAccess;
  /** For tokens; undefined when this user has no private place. */
  readonly tokenFolder: string | undefined;
}

export async function openServedBoard(
  surroundings: Surroundings,
  { patience, onProblem }: { readonly patience: Patience; readonly onProblem: (text: string) => void },
): Promise<ServedBoard> {
  const repository = requireRepository(surroundings);
  const { env } = surroundings;
  const signatures = openSignatures({
    env,
    folder: repository.configFolder,
    homeFolder: env['HOME'] ?? homedir(),
  });
  const context = await openContext(surroundings, undefined, { patience });
  let triggers: readonly TriggerDefinition[] = [];
  let told: string | undefined;
  /** Those that are accepted now. While copse.yml cannot be read, those of before count. */
  const triggersNow = async () => {
    try {
      ({ triggers } = await intakeOf(await configOf(repository)));
      told = undefined;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (told !== text) onProblem(`Triggers are used as they were before: ${text}`);
      told = text;
    }
    return triggers;
  };
  await triggersNow();
  return {
    context,
    receive: async (name, request) =>
      receiveRequest(context, { triggers: await triggersNow() }, signatures, { name, request }),
    withAccess: (work) => withAccess(surroundings, work),
    tokenFolder: privateCache(env, 'copse-serve'),
  };
}
