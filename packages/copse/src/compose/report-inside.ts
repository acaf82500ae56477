/** How an agent in a sandbox reports: the board cannot be reached from there, and a file in its worktree can. */

import { openReports } from '../agents/files/report-file.ts';
import type { Report } from '../agents/rules/session/report.ts';

/** Undefined outside of a sandbox. */
export function reportFolderInside(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return env['COPSE_SANDBOX'] ? env['COPSE_REPORT_FOLDER'] : undefined;
}

export function writeReportInside(folder: string, report: Report): void {
  openReports().write(folder, report);
}
