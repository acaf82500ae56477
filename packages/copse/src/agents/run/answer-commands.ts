/**
 * Runs commands of Copse for the agent of an attempt, which has no way to the board of its own. A question says what to run
 * and nothing about who asks: that comes from the orders. The command itself refuses what is not for sessions.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CommandSaid } from '../ports/runners.ts';
import type { Ask } from '../ports/runtime.ts';
import type { RunningAttempt } from './surroundings.ts';

const { commandsAtOnce } = defaultPolicy.asks;

/** While a turn of the agent runs. */
export interface AnsweredCommands {
  /** Takes no more of them, and waits for those that run. They have gits in the worktree. */
  end(): Promise<void>;
}

export function answerCommands({ context, orders, task, reported }: RunningAttempt): AnsweredCommands {
  const { asked, git, log, sessionCommands, root, clock, policy } = context;
  const over = new AbortController();
  const variables = {
    COPSE_TASK_ID: task.id,
    COPSE_SESSION_ID: orders.session,
    COPSE_TOKEN: String(orders.token),
    COPSE_AGENT: orders.agent,
    COPSE_REPO_ROOT: root,
    // Not COPSE_ATTEMPT_ID, by which processes of the agent are found.
    COPSE_SETTINGS_OF: orders.attempt,
  };
  // Each place is taken by one command after another.
  const places: Promise<unknown>[] = Array.from({ length: commandsAtOnce }, () => Promise.resolve());
  let next = 0;
  let running = 0;
  let isOver = false;
  const inTurn = (work: () => Promise<CommandSaid>): Promise<CommandSaid> => {
    const place = next;
    next = (next + 1) % commandsAtOnce;
    running += 1;
    const said = (places[place] ?? Promise.resolve()).then(work).finally(() => (running -= 1));
    places[place] = said.catch(() => {});
    return said;
  };
  const answering = asked.answer(reported, async (ask) => {
    const command = commandIn(ask);
    if (command === undefined || isOver) return null;
    return inTurn(async () => {
      // The command may read what the agent committed just now.
      await git.stores.bring(task.id).catch((error: unknown) => log(String(error)));
      return sessionCommands.run({ ...command, variables, signal: over.signal });
    });
  });
  return {
    async end() {
      if (isOver) return;
      isOver = true;
      answering.stop();
      const settled = new AbortController();
      const all = Promise.all(places).finally(() => settled.abort());
      if (running > 0) await Promise.race([all, clock.sleep(policy.session.stopGraceMs, settled.signal)]);
      over.abort();
      await all;
    },
  };
}

const MOST_WORDS = defaultPolicy.agentOutput.commandWords;

/** An agent may have written anything. */
function commandIn({
  kind,
  input,
}: Ask): { readonly argv: readonly string[]; readonly input: string } | undefined {
  if (kind !== 'command' || typeof input !== 'object' || input === null) return undefined;
  const { argv, input: given } = input as Readonly<Record<string, unknown>>;
  if (!Array.isArray(argv) || argv.length === 0 || argv.length > MOST_WORDS) return undefined;
  const words = argv.filter((word): word is string => typeof word === 'string' && !word.includes('\0'));
  if (words.length !== argv.length) return undefined;
  return { argv: words, input: typeof given === 'string' ? given : '' };
}
