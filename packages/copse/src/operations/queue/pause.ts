import type { BranchName } from '../../kernel/ids.ts';
import { pauseQueue } from '../../queue/act/control.ts';
import type { MergeQueue, QueueSwitch } from '../../queue/rules/merge-queue.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { switchesView } from '../views/queue-views.ts';
import { requireTarget } from './target.ts';

interface Input {
  readonly accept?: boolean | undefined;
  /** The default. */
  readonly land?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly target?: string | undefined;
}

interface PausedQueue {
  readonly target: BranchName;
  readonly what: readonly QueueSwitch[];
  readonly queue: MergeQueue;
}

export async function act(access: Access, { accept, land, reason, ...input }: Input): Promise<PausedQueue> {
  return access.run(async (context) => {
    const target = await requireTarget(context, input.target);
    const what: readonly QueueSwitch[] = [
      ...(accept ? (['accept'] as const) : []),
      ...(land || !accept ? (['land'] as const) : []),
    ];
    const queue = orFail(await pauseQueue(context, target, { what, reason: reason ?? null }));
    return { target, what, queue };
  });
}

export function view({ target, queue }: PausedQueue) {
  return switchesView(target, queue);
}
