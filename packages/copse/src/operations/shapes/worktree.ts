/** Shapes of removed worktrees and changed files. */

import { z } from 'zod';

export const ignored = z
  .strictObject({ count: z.number(), first: z.array(z.string()) })
  .nullable()
  .describe('Files that git ignores, so that only the trash has them; null when git could not tell.');

export const removed = z.strictObject({
  task: z.string(),
  worktree: z.string().nullable(),
  branch: z.string().nullable(),
  branchDeleted: z.boolean(),
  rescue: z.string().nullable(),
  ignored,
  reason: z.string(),
  notes: z.array(z.string()),
});

export const changedFile = z.strictObject({
  path: z.string(),
  from: z.string().nullable().describe('Where it was before it was moved or copied.'),
  change: z.enum(['added', 'deleted', 'modified', 'renamed', 'copied', 'type_changed']),
  lines: z
    .strictObject({ inserted: z.number(), deleted: z.number() })
    .nullable()
    .describe('Null for binary files.'),
});
