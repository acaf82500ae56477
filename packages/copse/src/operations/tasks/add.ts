import type { Board } from '../../board/port.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { addTask } from '../../tasks/act/tasks.ts';
import { isAddedResult } from '../../tasks/rules/ledger.ts';
import { type ImportSource, type Task, isFinished } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { fail, orFail } from '../failure.ts';
import { findArtifacts, requireArtifact, requireTaskId, requireTaskIds } from '../find.ts';
import { taskView } from '../views/views.ts';
import { type TaskInput, readTaskInput, requireAgent } from './definition.ts';

interface Input extends TaskInput {
  readonly title: string;
  readonly dependsOn?: readonly string[] | undefined;
  /** Of an import: the artifact or the task that it brings into the repository. */
  readonly from?: string | undefined;
}

export async function act(access: Access, input: Input): Promise<Task> {
  await requireAgent(access.here, input.agent);
  return access.board(async (context) => {
    const { board } = context;
    const dependsOn = await requireTaskIds(board, input.dependsOn ?? []);
    const source = await readSource(board, input.from);
    return orFail(
      await addTask(context, {
        ...(await readTaskInput(board, input)),
        title: input.title,
        dependsOn: [...dependsOn, ...(source?.dependsOn ?? [])],
        ...(source && { from: source.from, kind: input.kind ?? 'import' }),
      }),
    );
  });
}

export function view(task: Task) {
  return taskView(task);
}

/** An import of a task that is not done yet waits for it. */
async function readSource(
  board: Board,
  from: string | undefined,
): Promise<{ readonly from: ImportSource; readonly dependsOn: readonly TaskId[] } | undefined> {
  if (from === undefined) return undefined;
  if (/^ar-/i.test(from) || (await findArtifacts(board, from)).length === 1) {
    const artifact = await requireArtifact(board, from);
    const { id, task, kind } = artifact;
    if (!isAddedResult(artifact))
      fail(
        'invalid',
        `${id} is a ${kind} of ${task}: only files and URIs are imported.`,
        `copse artifact list ${task}`,
      );
    return { from: { task, artifact: id }, dependsOn: [] };
  }
  const task = await requireTaskId(board, from);
  const results = (await board.list('artifact', { task })).filter(isAddedResult);
  const status = (await board.statuses([task])).get(task);
  if (results.length === 0 && (status === undefined || isFinished(status)))
    fail('invalid', `${task} has no file and no URI to import.`, `copse artifact list ${task}`);
  return { from: { task, artifact: null }, dependsOn: [task] };
}
