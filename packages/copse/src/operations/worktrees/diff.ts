import type { TaskId } from '../../kernel/ids.ts';
import { counted } from '../../kernel/text.ts';
import { type TaskDiff, diffTask } from '../../workspaces/act/diff.ts';
import type { Access } from '../access.ts';
import { bytesToAsk, patchPage } from '../views/patch-page.ts';
import { diffView } from '../views/workspace-views.ts';
import { requireTaskOfWorktree, stop } from './task-of-worktree.ts';

interface Input {
  readonly task?: string | undefined;
  /** Include uncommitted changes. */
  readonly uncommitted?: boolean | undefined;
  readonly withoutPatch?: boolean | undefined;
  /** The view has at most so many. */
  readonly maxFiles?: number | undefined;
  readonly maxPatchBytes?: number | undefined;
}

export type FoundDiff = Extract<TaskDiff, { kind: 'found' }>;

interface DiffOfTask {
  readonly task: TaskId;
  readonly found: FoundDiff;
  readonly hasPatch: boolean;
  readonly maxFiles: number;
  readonly maxPatchBytes: number;
}

export async function act(access: Access, input: Input): Promise<DiffOfTask> {
  const { uncommitted = false, withoutPatch = false } = input;
  return access.workspaces(async (context) => {
    const task = await requireTaskOfWorktree(context, access, input.task);
    const { files, patchBytes } = context.policy.diffPage;
    const { maxFiles = files, maxPatchBytes = patchBytes } = input;
    const options = {
      includeUncommitted: uncommitted,
      withoutPatch,
      maxPatchBytes: bytesToAsk(maxPatchBytes),
    };
    const found = await access.workspacesOf(task, (there) => diffTask(there, task, options));
    if (found.kind === 'refused') stop(found, 'not_found');
    return { task, found, hasPatch: !withoutPatch, maxFiles, maxPatchBytes };
  });
}

export function view({ task, found, hasPatch, maxFiles, maxPatchBytes }: DiffOfTask) {
  const { files, patch } = found.diff;
  const { text, cut } = hasPatch ? patchPage(patch, maxPatchBytes) : { text: null, cut: null };
  const whole = diffView(task, found, text);
  const cuts = [
    ...(files.length > maxFiles ? [`the first ${maxFiles} of ${counted(files.length, 'file')}`] : []),
    ...(cut === null ? [] : [cut]),
  ];
  if (cuts.length === 0) return whole;
  const note = `Only ${cuts.join(', and ')}. To see all: copse diff ${task}`;
  return { ...whole, files: files.slice(0, maxFiles), note };
}
