/** `copse undo` of a landed task. */

import { fileLines, sizeText } from '../../../explain/changes.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import type { Access } from '../../../operations/access.ts';
import * as preview from '../../../operations/worktrees/preview-undo.ts';
import { act, view } from '../../../operations/worktrees/undo-landing.ts';
import type { LandingUndone } from '../../../queue/act/undo-landing.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Cli } from '../../invocation.ts';
import type { Output } from '../../output.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function undoLanded(
  { output }: Cli,
  access: Access,
  task: TaskId,
  { dryRun, json }: Options,
): Promise<void> {
  const undone = await (dryRun ? preview.act(access, { task }) : act(access, { task }));
  if (json) output.json(view(undone));
  else print(output, undone);
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
