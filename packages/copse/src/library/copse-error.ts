import type { Failure } from '../operations/failure.ts';

/** Every error of the library: what happened, and what to do next. */
export class CopseError extends Error {
  override readonly name = 'CopseError';
  /** A word for programs: `not_found`, `wrong_status`, `invalid`, `unavailable`, … */
  readonly code: Failure['code'];
  /** A sentence for people; `message` is the same. */
  readonly reason: string;
  /** What to do next, the most likely first; mostly commands. */
  readonly next: readonly string[];
  /** The task whose status refused it. */
  readonly task: string | undefined;

  constructor({ code, reason, next, task }: Failure, options?: ErrorOptions) {
    super(reason, options);
    this.code = code;
    this.reason = reason;
    this.next = next;
    this.task = task;
  }
}
