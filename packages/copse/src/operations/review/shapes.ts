/** Inputs and outputs of the operations on reviews. */

import { z } from 'zod';

import { defaultPolicy } from '../../kernel/policy.ts';
import { aTask, maxPatchBytes, time } from '../shapes/common.ts';
import { ledgerEntry, task } from '../shapes/task.ts';
import { changedFile } from '../shapes/worktree.ts';

const review = {
  task,
  waitingSince: time,
  agent: z.string().nullable().describe('The last agent.'),
  target: z.string().nullable().describe('The branch that it lands on.'),
  change: z
    .strictObject({
      head: z.string(),
      from: z.string().describe('Where its branch left the target, or the commit given as `since`.'),
      files: z.array(changedFile),
      inserted: z.number(),
      deleted: z.number(),
      conflicts: z.array(z.string()).describe('Files that conflict with the target now.'),
    })
    .nullable()
    .describe('What would land; null when its commits are not in this repository.'),
  accept: z.strictObject({ commands: z.number(), passed: z.boolean() }),
  checks: z.array(z.strictObject({ name: z.string(), verdict: z.string() })),
  uncommitted: z.number().describe('How many uncommitted files would not land.'),
  before: z.string().nullable().describe('Why it left the queue the last time.'),
  ledger: z.array(ledgerEntry),
};

export const list = {
  input: z.strictObject({}),
  output: z.strictObject({ reviews: z.array(z.strictObject(review)) }),
};

export const show = {
  input: z.strictObject({
    task: aTask,
    maxPatchBytes,
    since: z
      .string()
      .optional()
      .describe('A commit, as `lastReviewed` of an earlier answer: only what changed after it.'),
    lossy: z.boolean().optional().describe('Bytes of the patch that are not UTF-8 appear as U+FFFD.'),
    after: z.string().optional().describe('The `cursor` of the last page: the next page of the patch.'),
  }),
  output: z.strictObject({
    ...review,
    patch: z
      .string()
      .nullable()
      .describe('This page of it. Null when there is none, or it is not UTF-8 (see `lossy`).'),
    cursor: z.string().nullable().describe('For the next page of the patch; null when this is the last.'),
    lastReviewed: z
      .string()
      .nullable()
      .describe('The commit that was in review before; null when there was none, or it is gone.'),
    note: z.string().optional().describe('What was cut off.'),
  }),
};

export const approve = {
  input: z.strictObject({
    task: aTask,
    head: z
      .string()
      .optional()
      .describe('A commit, or its first 7 characters: approve only if the branch is still there.'),
  }),
  output: z.strictObject({
    task: z.string(),
    landing: z.string(),
    head: z.string(),
    target: z.string(),
    queuedAt: time,
  }),
};

export const sendBack = {
  input: z.strictObject({
    task: aTask,
    comment: z
      .string()
      .optional()
      .describe('What its agent should change. Needed if there are no comments on lines.'),
    lines: z
      .array(
        z.strictObject({
          path: z.string().min(1),
          line: z.int().min(1),
          endLine: z.int().min(1).optional().describe('The last of several lines.'),
          side: z.enum(['new', 'old']).optional().describe('old: the line before the change.'),
          text: z.string().min(1),
        }),
      )
      .max(defaultPolicy.listedInput.entries)
      .optional()
      .describe('Comments on lines. Its agent gets all of them as one text.'),
    head: z.string().optional().describe('The commit whose lines these are.'),
    command: z.string().optional().describe('A shell command to use as the agent.'),
  }),
  output: z.strictObject({
    task,
    agent: z.string().nullable().describe('Who works on it now; null while it waits.'),
  }),
};
