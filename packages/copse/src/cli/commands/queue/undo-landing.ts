/** `copse undo` of a landed task. */

import { type LandingUndone, undoLanding } from '../../../queue/act/undo-landing.ts';
import { openReverting } from '../../../compose/on-demand.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { undoneView } from '../../../operations/views/review-views.ts';
import { fileLines, sizeText } from '../../../explain/changes.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { withRun } from '../../with-run.ts';
import { printSteps } from '../../after/next-steps.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function undoLanded(cli: Cli, id: TaskId, { dryRun = false, json }: Options): Promise<void> {
  const reverting = await openReverting(cli);
  try {
    await withRun(cli, {}, async (context) => {
      const undone = orFail(await undoLanding({ ...context, reverting }, id, { isTrial: dryRun }));
      if (json) cli.output.json(undoneView(undone));
      else print(cli.output, undone);
    });
  } finally {
    await reverting.close();
  }
}

function print(output: Output, { task, target, landed, commits, diff, undo }: LandingUndone): void {
  const isQueued = undo?.state.status === 'landing';
  const where = `${task.id} ${shown(task.title)}`;
  if (undo === null) output.line(`Would undo ${where}`);
  else
    output.line(
      `${output.style('green', 'Added')} ${undo.id} “${shown(undo.title)}”; it ${isQueued ? 'is queued to land' : 'waits for your review'}`,
    );
  const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`;
  output.line(`    reverts ${count} of ${task.id} on ${shown(target)}, up to ${landed.slice(0, 10)}`);
  for (const { id, subject } of commits) output.line(`      ${id.slice(0, 10)} ${shown(subject)}`);
  output.line(`    ${sizeText(diff)}`);
  for (const line of fileLines(diff.files)) output.line(`      ${line}`);
  const next =
    undo === null
      ? `copse undo ${task.id}`
      : isQueued
        ? `copse merge ${undo.id} # to land it now; a running orchestrator does the same`
        : `copse review ${undo.id}`;
  printSteps(output, [next]);
}
