import { joinTerminal } from '../../../compose/on-demand.ts';
import { configOf, requireRepository } from '../../../compose/open.ts';
import { requireTerminal } from '../../../operations/agents/terminal/no-terminal.ts';
import { fail } from '../../../operations/failure.ts';
import { requireTaskId } from '../../../operations/find.ts';
import type { Invocation } from '../../invocation.ts';
import { withWorkspaces } from '../../with-workspaces.ts';

/** Attaches to the tmux session of an agent. Detaching (Ctrl+B D) leaves the agent running. */
export async function run({ cli, words }: Invocation): Promise<void> {
  const joined = await withWorkspaces(cli, async (context) => {
    const id = await requireTaskId(context.board, words[0] ?? '');
    const here = { config: () => configOf(requireRepository(cli)) };
    const terminal = await requireTerminal(context, here, id);
    if (!cli.output.isTerminal) return fail('invalid', 'copse attach needs a terminal.', `copse logs ${id}`);
    return { id, terminal };
  });
  if (!(await joinTerminal(joined.terminal, cli)))
    fail('unavailable', `tmux did not show the terminal of ${joined.id}.`, `copse logs ${joined.id}`);
}
