/** How an agent and its runner talk about the work: a small file in the worktree that either may write. */

import type { Report, ReportSeen } from '../rules/session/report.ts';

export type { Report, ReportSeen } from '../rules/session/report.ts';

export interface Reports {
  /**
   * Each change once, beginning with what is there and ending with a last look when it is stopped. What cannot be
   * understood is a problem, once, and never throws.
   */
  watch(worktree: string, on: (seen: ReportSeen) => void): { stop(): void };
  /** Undefined when nothing was reported. */
  read(worktree: string): ReportSeen | undefined;
  /** Adds to what is there, or takes its place where both say the same thing. Throws when there is no safe place for it. */
  write(worktree: string, report: Report): void;
  /** Takes away what an earlier attempt said. */
  clear(worktree: string): void;
}
