import type { BoardReader } from '../../../board/port.ts';
import { configOf, requireRepository } from '../../../compose/open.ts';
import { effectiveAgent } from '../../../config/effective.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { terminalName } from '../../../workspaces/rules/naming.ts';
import { joinTerminal } from '../../../compose/on-demand.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { requireTaskId } from '../../../operations/find.ts';
import { withWorkspaces } from '../../with-workspaces.ts';

/** Attaches to the tmux session of an agent. Detaching (Ctrl+B D) leaves the agent running. */
export async function run({ cli, words }: Invocation): Promise<void> {
  const name = await withWorkspaces(cli, async ({ board, occupancy }) => {
    const id = await requireTaskId(board, words[0] ?? '');
    const sessions = await occupancy.tmuxSessions(terminalName(id));
    if (sessions.kind === 'unknown')
      return fail('unavailable', sessions.why, 'install tmux', `copse logs ${id} --follow`);
    if (sessions.sessions.length === 0) {
      if ((await board.list('attempt', { task: id })).length === 0)
        fail('not_found', `${id} has no terminal: no agent has started on it.`, `copse why ${id}`);
      return fail(
        'not_found',
        `${id} has no terminal: ${await whyNone(cli, board, id)}.`,
        `copse logs ${id} --follow`,
        `copse why ${id}`,
      );
    }
    if (!cli.output.isTerminal) return fail('invalid', 'copse attach needs a terminal.', `copse logs ${id}`);
    return terminalName(id);
  });
  await joinTerminal(name, cli);
}

async function whyNone(cli: Cli, board: BoardReader, id: TaskId): Promise<string> {
  const state = (await board.get('task', id))?.state;
  if (state?.status !== 'in_progress') return 'its agent has ended';
  const { agent, isByHand } = state.claim;
  if (isByHand) return 'a person works on it';
  const terminal = effectiveAgent(await configOf(requireRepository(cli)), agent)?.terminal;
  return terminal === 'tmux'
    ? 'its agent is still starting, or its tmux has ended'
    : `agent ${shown(agent)} does not run in tmux. Set \`terminal: tmux\` for it in copse.yml`;
}
