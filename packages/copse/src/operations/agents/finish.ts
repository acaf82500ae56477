import { addReportedHere } from '../../agents/act/artifacts.ts';
import { reportFinish } from '../../agents/act/report.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import { finishByHand, previewFinish } from '../../review/act/finish-here.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { taskView } from '../views/views.ts';
import { withReport } from './reporting.ts';

interface Input {
  readonly task?: string | undefined;
  readonly noChanges?: boolean | undefined;
  readonly summary?: string | undefined;
}

type FinishedTask =
  /** By hand: it is on its way to the target, or done. */
  | { readonly kind: 'finished'; readonly task: Task; readonly at: Timestamp }
  /** By an agent: its runner checks the work when the agent has ended. */
  | { readonly kind: 'reported'; readonly task: TaskId; readonly noChanges: boolean };

export async function act(access: Access, input: Input): Promise<FinishedTask> {
  const { noChanges = false, summary = null } = input;
  return withReport(access, input.task, async (context, about): Promise<FinishedTask> => {
    const { task } = about;
    const report = { noChanges, summary };
    if (context.by.kind === 'session') await addReportedHere(context, task);
    const preview = () => access.run((run) => previewFinish(run, task, report));
    const handling = orFail(await reportFinish(context, about, report, preview));
    if (handling === 'report') return { kind: 'reported', task, noChanges };
    const finished = orFail(await access.run((run) => finishByHand(run, task, report)));
    return { kind: 'finished', task: finished, at: context.clock.now() };
  });
}

export function view(finished: FinishedTask) {
  if (finished.kind === 'finished') return { task: taskView(finished.task) };
  const { task, noChanges } = finished;
  return { task, reported: 'finished' as const, noChanges };
}
