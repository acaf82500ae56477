/** Where results of a task are kept as files, so that they outlive its worktree. */

import type { TaskId } from '../../kernel/ids.ts';

export interface Artifacts {
  /** The address of the file. Writing the same name again replaces it. */
  save(task: TaskId, name: string, content: Uint8Array): Promise<string>;
}
