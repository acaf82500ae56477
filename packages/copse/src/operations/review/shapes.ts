/** Inputs and outputs of the operations on reviews. */

import { z } from 'zod';

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
      from: z.string().describe('Where its branch left the target.'),
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
  input: z.strictObject({ task: aTask, maxPatchBytes }),
  output: z.strictObject({
    ...review,
    patch: z.string().nullable().describe('Null when there is none, or it is not UTF-8.'),
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
    comment: z.string().describe('What its agent should change.'),
    command: z.string().optional().describe('A shell command to use as the agent.'),
  }),
  output: z.strictObject({
    task,
    agent: z.string().nullable().describe('Who works on it now; null while it waits.'),
  }),
};
