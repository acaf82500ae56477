/** Whether a person's pause of its queue keeps a task from landing. `copse merge` and an orchestrator wait for it too. */

import type { BoardReader } from '../../board/port.ts';
import { shellWord } from '../../kernel/shell.ts';
import type { Landing } from '../rules/landing.ts';
import { pausedBy } from '../rules/merge-queue.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { queueOf } from './view.ts';

export interface PausedLanding {
  readonly reason: WaitReason;
  readonly resume: string;
}

export async function loadPaused(
  board: BoardReader,
  landing: Pick<Landing, 'target' | 'queuedAt'> | undefined,
): Promise<PausedLanding | undefined> {
  if (landing === undefined) return undefined;
  const { target } = landing;
  const reason = pausedBy((await queueOf(board, target)).paused, landing);
  if (reason === null) return undefined;
  const isOnly = (await board.list('queue')).every(({ id }) => id === target);
  return {
    reason,
    resume: `copse queue resume${isOnly ? '' : ` --target ${shellWord(target)}`} # to end the pause`,
  };
}
