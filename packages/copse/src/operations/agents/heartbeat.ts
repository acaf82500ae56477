import { reportHeartbeat } from '../../agents/act/report.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { withReport } from './reporting.ts';

interface Input {
  readonly task?: string | undefined;
}

export async function act(access: Access, { task }: Input): Promise<TaskId> {
  return withReport(access, task, async (context, about) => orFail(await reportHeartbeat(context, about)));
}

export function view(task: TaskId) {
  return { task, alive: true };
}
