/** What agents and their runners printed on this machine. */

import type { AttemptId, TaskId } from '../../kernel/ids.ts';

export interface LogName {
  readonly task: TaskId;
  readonly attempt: AttemptId;
  /** The log of its runner, and not the output of its agent. */
  readonly isOfRunner: boolean;
}

export interface AttemptLogs {
  /** Where the logs of a task are. Undefined: there are none here. */
  folderOf(task: TaskId): string | undefined;
  /** Undefined: there is no such file, or no plain one. */
  find(name: LogName): { readonly file: string; readonly bytes: number } | undefined;
  /** At most so many bytes from there on, none after its end. */
  read(name: LogName, from: number, mostBytes: number): Uint8Array;
}
