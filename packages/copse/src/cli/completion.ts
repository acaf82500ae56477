/** Shell completion: the scripts, and the answers to their `copse complete -- …`. */

import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

import { shown } from '../kernel/text.ts';
import { openContext } from '../compose/open.ts';
import type { Cli } from './invocation.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

const SUGGESTED_TASKS = 100;

/** The library adds a command for its scripts; `copse completion` replaces it. */
const HIDDEN = 'completion-script';

function register(program: Command) {
  const completion = tab(program, { completionCommandName: HIDDEN });
  completion.commands.delete(HIDDEN);
  return completion;
}

export function printScript(program: Command, shell: (typeof shells)[number]): void {
  register(program).setup('copse', 'copse', shell);
}

export async function answerCompletions(program: Command, cli: Cli): Promise<void> {
  const completion = register(program);
  const tasks = await liveTasks(cli);
  for (const [command, argument] of [
    ['show', 'id'],
    ['edit', 'id'],
    ['delete', 'ids'],
    ['work', 'id'],
    ['cleanup', 'id'],
    ['sync', 'id'],
    ['diff', 'id'],
    ['undo', 'id'],
    ['radar', 'id'],
    ['review', 'id'],
    ['merge', 'ids'],
    ['queue front', 'ids'],
    ['queue cancel', 'ids'],
    ['queue retry', 'ids'],
    ['rescue list', 'id'],
    ['rescue move', 'id'],
  ] as const) {
    completion.commands.get(command)?.argument(
      argument,
      (complete) => {
        for (const { id, title } of tasks) complete(id, shown(title));
      },
      argument === 'ids',
    );
  }
}

/** Without a board there are no suggestions, and no error. */
async function liveTasks(cli: Cli): Promise<readonly { readonly id: string; readonly title: string }[]> {
  try {
    const { board } = await openContext(cli);
    const tasks = await board.tasks({ finished: false, order: 'urgent', limit: SUGGESTED_TASKS });
    await board.close();
    return tasks;
  } catch {
    return [];
  }
}
