/**
 * What the programs of an attempt reach without the board, also from inside a sandbox: the runner, which answers hooks,
 * and the report file in the worktree, which the runner reads.
 */

import { openAsks } from '../agents/files/asks.ts';
import { openReports } from '../agents/files/report-file.ts';
import type { Asks } from '../agents/ports/runtime.ts';
import type { Report } from '../agents/rules/session/report.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined when no runner started this program. */
export function runnerAsked(env: Environment): { readonly asks: Asks; readonly folder: string } | undefined {
  const { COPSE_ATTEMPT_ID: attempt, COPSE_ASK_FOLDER: folder } = env;
  return attempt && folder ? { asks: openAsks(attempt), folder } : undefined;
}

/** Undefined outside of a sandbox. */
export function reportFolderInside(env: Environment): string | undefined {
  return env['COPSE_SANDBOX'] ? env['COPSE_REPORT_FOLDER'] : undefined;
}

export function writeReportInside(folder: string, report: Report): void {
  openReports().write(folder, report);
}
