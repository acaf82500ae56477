import type { BranchName } from '../../kernel/ids.ts';
import { targetOf } from '../../queue/act/landing-target.ts';
import { loadQueue, loadQueues } from '../../queue/act/view.ts';
import type { LookContext } from '../../queue/context.ts';
import { runHistoryTypes } from '../../queue/rules/view/history.ts';
import type { QueueView } from '../../queue/rules/view/view.ts';
import type { Access } from '../access.ts';
import { queueView } from '../views/queue-views.ts';
import { requireTarget } from './target.ts';

interface Input {
  /** Only the queue of this branch. */
  readonly target?: string | undefined;
}

export async function act(access: Access, { target }: Input): Promise<readonly QueueView[]> {
  return access.look(async (context) =>
    loadShown(context, target === undefined ? undefined : await requireTarget(context, target)),
  );
}

export function view(queues: readonly QueueView[]) {
  return { queues: queues.map(queueView) };
}

/** Queues with entries or a pause; the usual target if there are none. */
export async function loadShown(
  context: LookContext,
  target: BranchName | undefined,
): Promise<readonly QueueView[]> {
  const { landing: settings } = context;
  if (target !== undefined) return [await loadQueue(context, settings, target, { types: runHistoryTypes })];
  const usual = await targetOf(context, undefined);
  const queues = await loadQueues(context, settings, usual === undefined ? [] : [usual], runHistoryTypes);
  const busy = queues.filter(
    ({ entries, paused }) => entries.length > 0 || (paused.accept ?? paused.land) !== null,
  );
  return busy.length === 0 ? queues : busy;
}
