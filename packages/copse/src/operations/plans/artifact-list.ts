import { taskFrom } from '../../board/rules/author.ts';
import type { Board } from '../../board/port.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Artifact } from '../../tasks/rules/ledger.ts';
import type { Access } from '../access.ts';
import { requireTaskId } from '../find.ts';
import { taskOfFolder } from '../task-here.ts';
import { artifactView } from '../views/views.ts';

interface Input {
  readonly task?: string | undefined;
  /** Of all tasks; the default outside of a worktree. */
  readonly all?: boolean | undefined;
}

interface ListedArtifacts {
  /** Undefined: of all tasks. */
  readonly task: TaskId | undefined;
  readonly artifacts: readonly Artifact[];
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<ListedArtifacts> {
  return access.board(async ({ board, clock }) => {
    const task = input.all ? undefined : await taskMeant(board, access, input.task);
    const artifacts = await (task === undefined ? board.list('artifact') : board.list('artifact', { task }));
    return { task, artifacts, at: clock.now() };
  });
}

export function view({ artifacts }: ListedArtifacts) {
  return { artifacts: artifacts.map(artifactView) };
}

async function taskMeant(
  board: Board,
  { env, here }: Access,
  text: string | undefined,
): Promise<TaskId | undefined> {
  if (text !== undefined) return requireTaskId(board, text);
  return taskFrom(env) ?? (await taskOfFolder(board, here));
}
