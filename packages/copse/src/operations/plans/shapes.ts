/** Inputs and outputs of the operations on plans, ledgers and artifacts. */

import { z } from 'zod';

import { ledgerKinds } from '../../tasks/rules/ledger.ts';
import { aTask, taskOrHere, time } from '../shapes/common.ts';
import { artifact, ledgerEntry, status, task } from '../shapes/task.ts';

const plan = z.strictObject({
  id: z.string(),
  title: z.string(),
  body: z.string(),
  progress: z.strictObject({
    total: z.number(),
    byStatus: z.partialRecord(status, z.number()),
  }),
  landed: z.array(z.strictObject({ task: z.string(), commit: z.string(), at: time })),
  tasks: z.array(task),
  createdAt: time,
  updatedAt: time,
});

export const planAdd = {
  input: z.strictObject({ title: z.string(), body: z.string().optional() }),
  output: plan,
};

export const planShow = {
  input: z.strictObject({ plan: z.string().describe('The id of a plan, or the unique beginning of one.') }),
  output: plan,
};

export const planList = {
  input: z.strictObject({}),
  output: z.strictObject({ plans: z.array(plan) }),
};

export const ledgerAdd = {
  input: z.strictObject({
    task: taskOrHere,
    kind: z.enum(ledgerKinds),
    text: z.string().describe('What the next agent should know.'),
  }),
  output: ledgerEntry,
};

export const ledgerList = {
  input: z.strictObject({ task: taskOrHere }),
  output: z.strictObject({ entries: z.array(ledgerEntry) }),
};

export const artifactList = {
  input: z.strictObject({
    task: aTask.optional(),
    all: z.boolean().optional().describe('Of all tasks; the default outside of a worktree.'),
  }),
  output: z.strictObject({ artifacts: z.array(artifact) }),
};

const anArtifact = z.string().describe('The id of an artifact, or the unique beginning of one.');

export const artifactShow = {
  input: z.strictObject({ artifact: anArtifact }),
  output: artifact,
};

export const artifactAdd = {
  input: z.strictObject({
    task: taskOrHere,
    file: z.string().optional().describe('A path on the machine of Copse; the file is copied.'),
    uri: z.string().optional().describe('Instead of a file: kept as text.'),
    title: z.string().optional().describe('What it is, in one line.'),
  }),
  output: artifact,
};

export const artifactContent = {
  input: z.strictObject({
    artifact: anArtifact,
    after: z.int().min(0).optional().describe('The `next` of the last page.'),
  }),
  output: z.strictObject({
    artifact: z.string(),
    bytes: z.number().describe('Of the whole content.'),
    content: z.base64().describe('This page.'),
    next: z.number().nullable().describe('Null: this is the last page.'),
  }),
};
