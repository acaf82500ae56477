/** Which output a page asks for: the log of an attempt, or the terminal of the agent that works now. */

import type { LogName } from '../../agents/ports/logs.ts';
import type { Board } from '../../board/port.ts';
import type { AttemptId, NodeId, SessionId, TaskId } from '../../kernel/ids.ts';
import { fail } from '../../operations/failure.ts';
import { requireTaskId } from '../../operations/find.ts';
import { statusPredicate } from '../../tasks/rules/task.ts';
import { machineName } from '../../workspaces/act/shared/elsewhere.ts';
import { terminalName } from '../../workspaces/rules/naming.ts';
import type { OutputPosition } from './source.ts';

export interface FoundOutput {
  /** Of its source. */
  readonly key: string;
  readonly view: 'terminal' | 'log';
  readonly task: TaskId;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly name: { readonly log: LogName; readonly terminal: string };
  readonly from: OutputPosition | undefined;
}

/** Fails with the reason and the next command. */
export async function findOutput(
  board: Board,
  { node }: { readonly node: NodeId },
  text: string,
  query: ReadonlyMap<string, string>,
): Promise<FoundOutput> {
  const task = await requireTaskId(board, text);
  const view = query.get('view') ?? 'log';
  if (view !== 'terminal' && view !== 'log')
    fail('invalid', 'view must be terminal or log.', `copse logs ${task}`);
  const attempts = await board.list('attempt', { task });
  const wanted = query.get('attempt');
  const attempt = wanted === undefined ? attempts.at(-1) : attempts.find(({ id }) => id === wanted);
  if (attempt === undefined)
    return fail('not_found', `${task} has no such attempt: no agent has started on it.`, `copse why ${task}`);
  if (attempt.node !== node)
    fail('not_found', `It runs on ${await machineName(board, attempt.node)}.`, `copse logs ${task} # there`);
  const state = (await board.get('task', task))?.state;
  const isWorking = state?.status === 'in_progress' && state.claim.attempt === attempt.id;
  if (view === 'terminal' && !isWorking) {
    const why = state === undefined ? 'was deleted' : statusPredicate(state.status);
    fail('wrong_status', `No agent runs in a terminal: ${task} ${why}.`, `copse logs ${task}`);
  }
  const { id, session } = attempt;
  const name = { log: { task, attempt: id, isOfRunner: false }, terminal: terminalName(task) };
  const key = `${view} ${id}`;
  return { key, view, task, session, attempt: id, name, from: positionIn(query) };
}

function positionIn(query: ReadonlyMap<string, string>): OutputPosition | undefined {
  const from = query.get('from');
  if (from === undefined) return undefined;
  if (!/^\d{1,15}$/.test(from)) fail('invalid', 'from must be the offset of a byte.', 'copse serve --help');
  return { stream: query.get('stream') ?? null, at: Number(from) };
}
