import { isUtf8 } from 'node:buffer';

import type { TaskId } from '../../kernel/ids.ts';
import { counted } from '../../kernel/text.ts';
import { type TaskDiff, diffTask } from '../../workspaces/act/diff.ts';
import type { Access } from '../access.ts';
import { diffView } from '../views/workspace-views.ts';
import { requireTaskOfWorktree, stop } from './task-of-worktree.ts';

interface Input {
  readonly task?: string | undefined;
  /** Include uncommitted changes. */
  readonly uncommitted?: boolean | undefined;
  readonly withoutPatch?: boolean | undefined;
  /** The view has at most so many; the result has all. */
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
    const options = { includeUncommitted: uncommitted, withoutPatch };
    const found = await access.workspacesOf(task, (there) => diffTask(there, task, options));
    if (found.kind === 'refused') stop(found, 'not_found');
    const { files: maxFiles, patchBytes: maxPatchBytes } = context.policy.diffPage;
    return {
      task,
      found,
      hasPatch: !withoutPatch,
      maxFiles: input.maxFiles ?? maxFiles,
      maxPatchBytes: input.maxPatchBytes ?? maxPatchBytes,
    };
  });
}

export function view({ task, found, hasPatch, maxFiles, maxPatchBytes }: DiffOfTask) {
  const { files, patch } = found.diff;
  const text = hasPatch && isUtf8(patch) ? patch : null;
  const page = text && wholeLines(text, maxPatchBytes);
  const whole = diffView(task, found, page && page.toString());
  const cuts = [
    ...(files.length > maxFiles ? [`the first ${maxFiles} of ${counted(files.length, 'file')}`] : []),
    ...(text && page && page.length < text.length
      ? [`the first ${page.length} of ${text.length} bytes of the patch`]
      : []),
  ];
  if (cuts.length === 0) return whole;
  const note = `Only ${cuts.join(', and ')}. To see all: copse diff ${task}`;
  return { ...whole, files: files.slice(0, maxFiles), note };
}

/** Cut after a line, so that no character is cut. */
function wholeLines(patch: Buffer, most: number): Buffer {
  if (patch.length <= most) return patch;
  return patch.subarray(0, patch.lastIndexOf('\n', Math.max(most - 1, 0)) + 1);
}
