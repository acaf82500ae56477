/** Which terminal a task's agent has on this machine; fails with the reason when there is none. */

import type { BoardReader } from '../../../board/port.ts';
import { effectiveAgent } from '../../../config/effective.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import { terminalName } from '../../../workspaces/rules/naming.ts';
import type { CloneHere } from '../../access.ts';
import { fail } from '../../failure.ts';

export async function requireTerminal(
  { board, occupancy }: Pick<WorkspaceContext, 'board' | 'occupancy'>,
  here: Pick<CloneHere, 'config'>,
  id: TaskId,
): Promise<string> {
  const sessions = await occupancy.tmuxSessions(terminalName(id));
  if (sessions.kind === 'unknown')
    return fail('unavailable', sessions.why, 'Install tmux.', `copse logs ${id} --follow`);
  if (sessions.sessions.length > 0) return terminalName(id);
  if ((await board.list('attempt', { task: id })).length === 0)
    fail('not_found', `${id} has no terminal: no agent has started on it.`, `copse why ${id}`);
  return fail(
    'not_found',
    `${id} has no terminal: ${await whyNone(board, here, id)}.`,
    await logsCommand(board, id),
    `copse why ${id}`,
  );
}

/** Nothing follows what an agent printed before it ended. */
async function logsCommand(board: BoardReader, id: TaskId): Promise<string> {
  const isRunning = (await board.get('task', id))?.state.status === 'in_progress';
  return `copse logs ${id}${isRunning ? ' --follow' : ''}`;
}

async function whyNone(board: BoardReader, here: Pick<CloneHere, 'config'>, id: TaskId): Promise<string> {
  const state = (await board.get('task', id))?.state;
  if (state?.status !== 'in_progress') return 'its agent has ended';
  const { agent, isByHand } = state.claim;
  if (isByHand) return 'a person works on it';
  const terminal = effectiveAgent(await here.config(), agent)?.terminal;
  return terminal === 'tmux'
    ? 'its agent is still starting, or its tmux has ended'
    : `agent ${shown(agent)} does not run in tmux. Set \`terminal: tmux\` for it in copse.yml`;
}
