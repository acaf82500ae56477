import { reportStuck } from '../../agents/act/report.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { withReport } from './reporting.ts';

interface Input {
  readonly task?: string | undefined;
  readonly reason: string;
}

interface ReportedStuck {
  readonly task: TaskId;
  /** The task is stuck now. Otherwise its runner acts on the report when the agent has ended. */
  readonly isDone: boolean;
}

export async function act(access: Access, { task, reason }: Input): Promise<ReportedStuck> {
  return withReport(access, task, async (context, about) => {
    const after = await context.board.lastEvent();
    const isDone = orFail(await reportStuck(context, about, reason)) === 'by_hand';
    if (isDone) access.announce(after);
    return { task: about.task, isDone };
  });
}

export function view({ task, isDone }: ReportedStuck) {
  return { task, reported: 'stuck' as const, isDone };
}
