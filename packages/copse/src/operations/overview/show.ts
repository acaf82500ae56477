import { questionView } from '../../explain/question.ts';
import { mayHaveChanged, withStateNow } from '../../explain/state-now.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { time } from '../../kernel/time.ts';
import type { Undoing } from '../../queue/rules/undo-landing.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { requireTaskOrHere } from '../task-here.ts';
import { itemView } from '../views/source-views.ts';
import { attemptView, workspaceView } from '../views/task-views.ts';
import { artifactView, ledgerView, taskView } from '../views/views.ts';
import { type ShowFacts, loadFacts } from './show-facts.ts';

interface Input {
  readonly task?: string | undefined;
}

interface Shown {
  readonly task: Task;
  readonly facts: ShowFacts;
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<Shown> {
  return access.board(async (context) => {
    const id = await requireTaskOrHere(context.board, access, input.task);
    const task = await context.board.get('task', id);
    if (task === undefined) fail('not_found', `${id} was just deleted.`, 'copse list');
    const now = mayHaveChanged(task) ? await access.look((look) => withStateNow(look, task)) : task;
    return { task: now, facts: await loadFacts(access, context, task), at: context.clock.now() };
  });
}

export function view({ task, facts }: Pick<Shown, 'task' | 'facts'>) {
  return {
    ...taskView(task, facts.waiting),
    phase: facts.session?.state.phase ?? null,
    attention: facts.attention,
    question: facts.question ? questionView(facts.question) : null,
    lastQuestion: facts.session?.question ?? null,
    takenOver: facts.takenOver && { person: facts.takenOver.person, since: time(facts.takenOver.at) },
    ...(facts.hasTerminal && { hasTerminal: true as const }),
    process: facts.process,
    workspace: facts.workspace ? workspaceView(facts.workspace) : null,
    attempts: facts.attempts.map(attemptView),
    usage: facts.usage,
    summary: facts.finish?.summary ?? null,
    warnings: facts.finish?.notes ?? [],
    landed: facts.landed && { ...facts.landed, at: new Date(facts.landed.at).toISOString() },
    undone: undoneView(facts.undoing),
    dependants: facts.dependants,
    ledger: facts.ledger.map(ledgerView),
    artifacts: facts.artifacts.map(artifactView),
    item: facts.item ? itemView(facts.item, task.state.status) : null,
  };
}

function undoneView(undoing: Undoing) {
  const { kind: is } = undoing;
  if (is === 'none') return null;
  return is === 'begun' ? { is, by: undoing.by, status: undoing.status } : { is, by: undoing.by };
}
