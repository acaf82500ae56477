import { reportPhase } from '../../agents/act/report.ts';
import type { OpenPhase } from '../../agents/rules/session/session.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { withReport } from './reporting.ts';

interface Input {
  readonly task?: string | undefined;
  readonly phase: string;
}

interface ReportedPhase {
  readonly task: TaskId;
  readonly phase: OpenPhase;
}

export async function act(access: Access, { task, phase }: Input): Promise<ReportedPhase> {
  return withReport(access, task, async (context, about) => ({
    task: about.task,
    phase: orFail(await reportPhase(context, about, phase)),
  }));
}

export function view({ task, phase }: ReportedPhase) {
  return { task, phase };
}
