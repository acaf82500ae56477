/** What a server needs of this repository: its board, and the triggers of copse.yml. */

import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { type SessionCaller, loadSessionCaller } from '../../agents/act/session-caller.ts';
import { readSessionToken } from '../../agents/files/session-token.ts';
import type { Patience } from '../../board/patient.ts';
import type { Context } from '../../board/context.ts';
import { lentBoard } from '../../board/lent.ts';
import { FOR_SESSION, asPerson, authorFrom } from '../../board/rules/author.ts';
import { receiveRequest } from '../../intake/act/triggers.ts';
import type { TriggerDefinition } from '../../intake/rules/trigger.ts';
import { openSignatures } from '../../intake/signatures/verify.ts';
import { privateCache } from '../../kernel/system/private-cache.ts';
import { giveBack } from '../../agents/act/terminal/take-over.ts';
import { openLogs } from '../../agents/files/attempt-log.ts';
import { openTerminals } from '../../processes/control/client.ts';
import type { Receive } from '../../server/open-doors.ts';
import type { OutputParts } from '../../server/output/outputs.ts';
import type { WithAccess } from '../../server/routes.ts';
import type { ServerOptions } from '../../server/server.ts';
import { withAccess } from '../operations/access.ts';
import {
  type Repository,
  type Surroundings,
  configOf,
  nodeHere,
  openContext,
  requireRepository,
} from '../open.ts';
import { intakeOf } from '../run/intake.ts';
import { hasOtherServers } from './who-runs.ts';

export interface ServedBoard {
  readonly context: Context;
  readonly receive: Receive;
  readonly withAccess: WithAccess;
  readonly sessionOf: NonNullable<ServerOptions['sessionOf']>;
  readonly output: OutputParts;
  /** For tokens; undefined when this user has no private place. */
  readonly tokenFolder: string | undefined;
  /** The built dashboard. */
  readonly webFolder: string;
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
    onProblem,
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
  // The token of the server is a person's, and answers do not depend on the folder in which the server was started.
  const person = { cwd: repository.configFolder, env: asPerson(env) };
  return {
    context,
    receive: async (name, request) =>
      receiveRequest(context, { triggers: await triggersNow() }, signatures, { name, request }),
    withAccess: (work, { keyed, caller, signal } = {}) => {
      const by = caller?.kind === 'session' ? { ...person, env: asSession(person.env, caller) } : person;
      return withAccess(by, work, { lent: lentBoard(context.board, keyed), signal });
    },
    sessionOf: async (token) => {
      const claimed = readSessionToken(repository.home, token);
      return claimed && loadSessionCaller(context.board, claimed);
    },
    output: outputParts(repository, context, person.env),
    tokenFolder: privateCache(env, 'copse-serve'),
    webFolder: webFolder(),
  };
}

/** Beside the bundle; sources use that of the last build. */
function webFolder(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  return path.basename(here) === 'dist' ? path.join(here, 'web') : path.join(here, '../../../dist/web');
}

/** As a runner runs the commands of its agent, which read no file for it. */
function asSession(env: Surroundings['env'], { session, token, task, attempt, agent }: SessionCaller) {
  return {
    ...env,
    COPSE_TASK_ID: task,
    COPSE_SESSION_ID: session,
    COPSE_TOKEN: String(token),
    COPSE_AGENT: agent,
    COPSE_SETTINGS_OF: attempt,
    [FOR_SESSION]: '1',
  };
}

function outputParts(repository: Repository, context: Context, env: Surroundings['env']): OutputParts {
  const node = nodeHere(repository);
  const person = authorFrom(env);
  return {
    node,
    person: person.kind === 'person' ? person.name : null,
    logs: openLogs(repository.home),
    terminals: openTerminals(),
    hasOtherServers: () => hasOtherServers(repository.home),
    giveBack: async (task) => {
      await giveBack({ ...context, by: { kind: 'node', node } }, task, 'page_closed');
    },
  };
}
