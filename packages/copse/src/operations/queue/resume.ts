import type { BranchName } from '../../kernel/ids.ts';
import { resumeQueue } from '../../queue/act/control.ts';
import type { MergeQueue, QueueSwitch } from '../../queue/rules/merge-queue.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { switchesView } from '../views/queue-views.ts';
import { requireTarget } from './target.ts';

interface Input {
  readonly accept?: boolean | undefined;
  /** With neither: both. */
  readonly land?: boolean | undefined;
  readonly target?: string | undefined;
}

interface ResumedQueue {
  readonly target: BranchName;
  readonly queue: MergeQueue;
}

const BOTH: readonly QueueSwitch[] = ['accept', 'land'];

export async function act(access: Access, input: Input): Promise<ResumedQueue> {
  return access.run(async (context) => {
    const target = await requireTarget(context, input.target);
    const named = BOTH.filter((one) => input[one]);
    return {
      target,
      queue: orFail(await resumeQueue(context, target, named.length === 0 ? BOTH : named)),
    };
  });
}

export function view({ target, queue }: ResumedQueue) {
  return switchesView(target, queue);
}
