import type { TaskId } from '../../kernel/ids.ts';
import { type TaskSynced, syncTask } from '../../workspaces/act/sync.ts';
import type { Access } from '../access.ts';
import { refuseElsewhere, requireTaskOfWorktree, stop } from './task-of-worktree.ts';

interface Input {
  readonly task?: string | undefined;
  /** Leave a conflict in the worktree, to be resolved there. */
  readonly leaveConflict?: boolean | undefined;
}

export interface SyncedTask {
  readonly task: TaskId;
  readonly synced: Exclude<TaskSynced, { kind: 'refused' }>;
}

export async function act(access: Access, { task: text, leaveConflict = false }: Input): Promise<SyncedTask> {
  return access.workspaces(async (context) => {
    const task = await requireTaskOfWorktree(context, access, text);
    await refuseElsewhere(context, task);
    const synced = await syncTask(context, { task, leaveConflict });
    if (synced.kind === 'refused') stop({ ...synced, reason: withPaths(synced.reason, synced.paths) });
    return { task, synced };
  });
}

export function view({ task, synced: { kind: synced, ...rest } }: SyncedTask) {
  return { task, synced, ...rest };
}

const NAMED = 10;

function withPaths(reason: string, paths: readonly string[]): string {
  const lines = paths.slice(0, NAMED).map((path) => `  ${path}`);
  const more = paths.length > NAMED ? [`  … and ${paths.length - NAMED} more`] : [];
  return [reason, ...lines, ...more].join('\n');
}
