/** Inputs and outputs of the operations on worktrees. */

import { z } from 'zod';

import { sweptKinds } from '../../workspaces/rules/sweep/things.ts';
import { aTask, maxPatchBytes, taskOrHere, time } from '../shapes/common.ts';
import { status, task } from '../shapes/task.ts';
import { changedFile, ignored, removed } from '../shapes/worktree.ts';

const texts = z.array(z.string());
const aRescue = z.string().describe('The ref of a rescue, or a unique part of it.');

export const work = {
  input: z.strictObject({
    task: aTask,
    existing: z
      .enum(['resume', 'reset'])
      .optional()
      .describe('Of a worktree that it has already: continue in it, or start over and rescue its contents.'),
  }),
  output: z.strictObject({
    task: z.string(),
    worktree: z.string().nullable().describe('Null when the task has none of its own.'),
    branch: z.string().nullable(),
    base: z.string().nullable(),
    reused: z.boolean(),
    ports: z.array(z.number()),
    notes: texts,
  }),
};

const worktree = z.strictObject({
  task: z.string(),
  worktree: z.string(),
  status: z.enum([
    'active',
    'idle',
    'committed',
    'merged',
    'released',
    'kept',
    'left_over',
    'no_folder',
    'missing',
    'broken',
  ]),
  why: z.string().nullable(),
  taskStatus: status.nullable().describe('Null when the board has no such task.'),
  title: z.string().nullable(),
  isReadyToMerge: z.boolean(),
  branch: z.string().nullable().describe('Null when HEAD is detached.'),
  ahead: z.number().nullable().describe('Commits that the base does not have; null when that is unknown.'),
  uncommitted: z.number().nullable(),
  operation: z.string().nullable().describe('A merge or rebase that is not finished.'),
  size: z
    .strictObject({ bytes: z.number(), isWhole: z.boolean() })
    .optional()
    .describe('On disk; not whole when the time was up.'),
  since: time,
});

export const list = {
  input: z.strictObject({
    all: z.boolean().optional().describe('Also pooled worktrees and worktrees not created by Copse.'),
    size: z.boolean().optional().describe('Measure them, for at most 2 seconds.'),
  }),
  output: z.strictObject({
    worktrees: z.array(worktree),
    others: z
      .array(z.strictObject({ worktree: z.string(), kind: z.enum(['pooled', 'queue', 'not_managed']) }))
      .optional(),
  }),
};

const changes = {
  files: z.array(changedFile),
  inserted: z.number().describe('Lines in all files.'),
  deleted: z.number(),
};

export const diff = {
  input: z.strictObject({
    task: taskOrHere,
    uncommitted: z.boolean().optional().describe('Include uncommitted changes.'),
    withoutPatch: z.boolean().optional().describe('Only the files and numbers of lines.'),
    maxFiles: z.int().min(0).optional().describe('At most so many files.'),
    maxPatchBytes,
  }),
  output: z.strictObject({
    task: z.string(),
    branch: z.string().nullable(),
    base: z.string(),
    from: z.string().describe('Where the branch left the base.'),
    head: z.string(),
    ...changes,
    patch: z.string().nullable().describe('Null when it is not wanted, or not UTF-8.'),
    note: z.string().optional().describe('What was cut off.'),
  }),
};

export const sync = {
  input: z.strictObject({
    task: taskOrHere,
    leaveConflict: z.boolean().optional().describe('Leave a conflict in the worktree, to resolve it there.'),
  }),
  output: z.strictObject({
    task: z.string(),
    synced: z.enum(['up_to_date', 'fast_forwarded', 'merged', 'rebased', 'conflict_left']),
    base: z.string(),
    notes: texts,
    from: z.string().optional(),
    tip: z.string().optional(),
    files: z.number().optional().describe('How many files were written or removed.'),
    paths: texts.optional().describe('Files to resolve.'),
  }),
};

export const cleanup = {
  input: z.strictObject({
    task: aTask.optional().describe('Without it: the worktrees of all done or cancelled tasks.'),
    unlanded: z
      .boolean()
      .optional()
      .describe('Remove also those with work that did not land; uncommitted files are rescued first.'),
    force: z.boolean().optional().describe('The same, and stop its agent.'),
    deleteBranch: z
      .boolean()
      .optional()
      .describe('Delete its branch even if that has commits that are not merged.'),
  }),
  output: z.strictObject({
    removed: z.array(removed),
    kept: z.array(z.strictObject({ task: z.string(), worktree: z.string(), reason: z.string() })),
  }),
};

export const undo = {
  input: z.strictObject({
    task: aTask.optional().describe('Without it: the latest removed or reset worktree.'),
  }),
  output: z.strictObject({
    task: z.string(),
    worktree: z.string(),
    branch: z.string().nullable().describe('Null when HEAD is detached.'),
    undone: z.enum(['removal', 'reset', 'broken', 'undo']),
    inTheWay: texts.describe('Files that stay in the trash, because other files have their paths.'),
    ignored,
    notes: texts,
  }),
};

export const undoLanding = {
  input: z.strictObject({ task: aTask }),
  output: z.strictObject({
    task: z.string(),
    target: z.string(),
    commit: z.string().describe('The commit that it landed as.'),
    commits: z.array(z.strictObject({ id: z.string(), subject: z.string() })).describe('Newest first.'),
    ...changes,
    undo: task.nullable().describe('The task that undoes it; null in a preview.'),
  }),
};

const rescue = z.strictObject({
  ref: z.string(),
  commit: z.string(),
  task: z.string(),
  why: z.string(),
  at: time,
  branch: z.string().nullable(),
  head: z.string().nullable(),
  changed: z.number().describe('Paths that differ from its HEAD.'),
});

export const rescueList = {
  input: z.strictObject({ task: aTask.optional().describe('Only rescues of this task.') }),
  output: z.strictObject({
    rescues: z.array(rescue),
    kept: z
      .array(
        z.strictObject({
          ref: z.string(),
          commit: z.string(),
          task: z.string(),
          at: time,
          subject: z.string(),
        }),
      )
      .describe('Commits that are no longer on a branch.'),
  }),
};

export const rescueShow = {
  input: z.strictObject({ rescue: aRescue }),
  output: z.strictObject({
    ...rescue.shape,
    changes: z.array(z.strictObject({ path: z.string(), change: z.string() })),
    ignored,
  }),
};

export const rescueRestore = {
  input: z.strictObject({
    rescue: aRescue,
    into: z
      .string()
      .optional()
      .describe('The folder of a checkout of this repository. Without it: the worktree of its task.'),
  }),
  output: z.strictObject({
    task: z.string(),
    rescue: z.string(),
    worktree: z.string(),
    files: z.number(),
  }),
};

export const rescueMove = {
  input: z.strictObject({
    task: aTask,
    paths: texts
      .optional()
      .describe(
        'Files, from the top of the main checkout. Without them: those that its agent changed there.',
      ),
  }),
  output: z.strictObject({
    task: z.string(),
    moved: texts,
    left: z.array(
      z.strictObject({
        path: z.string(),
        outcome: z.enum(['moved', 'unchanged', 'staged', 'in_the_way', 'changed_since', 'not_a_file']),
      }),
    ),
    rescue: z.string().describe('A rescue of the main checkout before the move.'),
  }),
};

const outcome = z.strictObject({
  kind: z.enum(['removed', 'kept', 'failed']),
  keptUnder: texts.optional().describe('Refs that hold its content now.'),
  notes: texts.optional(),
  reason: z.string().optional(),
});

const plan = {
  dryRun: z.boolean(),
  budget: z
    .strictObject({
      maxBytes: z.number(),
      usedBytes: z.number(),
      leftBytes: z.number(),
      trashedBytes: z.number(),
    })
    .nullable()
    .describe('Null without maintenance.max_disk.'),
  items: z.array(
    z.strictObject({
      kind: z.enum(sweptKinds),
      name: z.string().describe('A path, a branch, a ref or the id of a session.'),
      task: z.string().nullable(),
      bytes: z.number().nullable(),
      goes: z.boolean(),
      why: z.string(),
      keptUnder: texts.optional().describe('Refs below which its content stays.'),
      notes: texts.optional(),
      outcome: outcome.optional(),
    }),
  ),
};

export const sweep = {
  input: z.strictObject({}),
  output: z.strictObject({
    busy: z.literal(true).optional().describe('Another process sweeps right now: there is nothing else.'),
    ...z.strictObject(plan).partial().shape,
  }),
};

export const previewSweep = { input: z.strictObject({}), output: z.strictObject(plan) };
