import { counted, shown } from '../../kernel/text.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { type Choice, type Existing, type Worked, work } from '../../workspaces/act/work.ts';
import type { Access } from '../access.ts';
import { fail, orFail } from '../failure.ts';
import { requireTaskId } from '../find.ts';
import { workView } from '../views/workspace-views.ts';
import { refuseElsewhere } from './task-of-worktree.ts';

interface Input {
  readonly task: string;
  /** What to do with a worktree that the task has already. */
  readonly existing?: Choice | undefined;
}

export type WorkedOn = Extract<Worked, { kind: 'worked' }>;

export async function act(access: Access, input: Input): Promise<WorkedOn> {
  const worked = await tryWork(access, input);
  if (worked.kind === 'worked') return worked;
  const { id, existing } = worked;
  return fail(
    'wrong_status',
    existingText(id, existing),
    `copse work ${id} --resume # to continue in it`,
    `copse work ${id} --reset # to start over; its contents are rescued first`,
  );
}

export function view({ task, workspace }: WorkedOn) {
  return workView(task.id, workspace);
}

type Tried = WorkedOn | { readonly kind: 'exists'; readonly id: TaskId; readonly existing: Existing };

/** For a caller that can ask a person: without a choice, an existing worktree stays as it is. */
export async function tryWork(access: Access, { task, existing }: Input): Promise<Tried> {
  return access.workspaces(async (context) => {
    const id = await requireTaskId(context.board, task);
    await refuseElsewhere(context, id);
    const worked = orFail(await work(context, id, existing));
    return worked.kind === 'worked' ? worked : { ...worked, id };
  });
}

export function existingText(id: TaskId, { path, crashes, uncommitted, ownCommits }: Existing): string {
  const facts = [
    ...(uncommitted === 0 ? [] : [counted(uncommitted, 'uncommitted change')]),
    ...(ownCommits === 0 ? [] : [`${counted(ownCommits, 'commit')} of its own`]),
    ...(uncommitted + ownCommits === 0 ? ['no changes'] : []),
    ...(crashes === 0 ? [] : [counted(crashes, 'crash', 'es')]),
  ];
  return `${id} already has a worktree (${facts.join(', ')}): ${shown(path)}`;
}
