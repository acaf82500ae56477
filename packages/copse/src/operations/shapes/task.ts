/** The shape of a task, and of what belongs to it. */

import { z } from 'zod';

import { ledgerKinds } from '../../tasks/rules/ledger.ts';
import { taskKinds, taskStatuses } from '../../tasks/rules/task.ts';
import { time } from './common.ts';

export const status = z.enum(taskStatuses).meta({ id: 'TaskStatus' });
export const priority = z.enum(['p1', 'p2', 'p3', 'p4', 'p5']).describe('p5 is the most urgent.');

const pullRequest = z.strictObject({
  state: z.enum(['wanted', 'given_up', 'pushed', 'open', 'closed']),
  url: z.string().nullable(),
  branch: z.string(),
  target: z.string(),
  review: z.enum(['none', 'approved', 'changes_requested']).nullable(),
  conflicts: z.boolean(),
  note: z.string().nullable(),
});

const origin = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('schedule'),
    schedule: z.string(),
    job: z.string(),
    prompt: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('item'),
    source: z.string(),
    item: z.string(),
    url: z.string().optional(),
    by: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('trigger'), trigger: z.string(), job: z.string() }),
]);

/** Lists leave the body out. */
export const task = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    body: z.string().optional().describe('The whole assignment; absent in lists.'),
    status,
    since: time,
    reason: z.string().nullable().describe('Why it is stuck, failed, cancelled or needs attention.'),
    waiting: z.string().nullable().describe('Why it does not land.'),
    pullRequest: pullRequest.nullable(),
    worker: z
      .strictObject({ agent: z.string(), node: z.string(), isByHand: z.boolean() })
      .nullable()
      .describe('Who works on it.'),
    priority,
    kind: z.enum(taskKinds),
    dependsOn: z.array(z.string()),
    areas: z.array(z.string()),
    requires: z.array(z.string()),
    plan: z.string().nullable(),
    agent: z.string().nullable().describe('The only agent that may take it.'),
    accept: z.array(z.string()),
    workItem: z.strictObject({ source: z.string(), id: z.string(), url: z.string().nullable() }).nullable(),
    session: z.string().nullable(),
    addedBy: z.string().nullable().describe('The task whose agent added it.'),
    origin: origin.nullable(),
    moveTo: z.string().nullable().describe('The node that takes it next.'),
    retries: z.number().describe('Crashes since the last success or restart.'),
    notBefore: time.nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Task' });

export const question = z
  .strictObject({
    id: z.string(),
    tool: z.string(),
    what: z.string(),
    task: z.string(),
    session: z.string(),
    since: time,
  })
  .meta({ id: 'Question', description: 'A permission that an agent waits for.' });

export const ledgerEntry = z
  .strictObject({
    id: z.string(),
    task: z.string(),
    session: z.string().nullable().describe('Null when a person wrote it.'),
    kind: z.enum(ledgerKinds),
    text: z.string(),
    at: time,
    undone: z.strictObject({ landing: z.string(), by: z.string() }).optional(),
  })
  .meta({ id: 'LedgerEntry' });

export const artifact = z
  .strictObject({
    id: z.string(),
    task: z.string(),
    kind: z.enum(['commit', 'patch', 'file', 'uri']),
    address: z.string(),
    title: z.string().nullable(),
    at: time,
    content: z
      .strictObject({ name: z.string(), bytes: z.number(), sha256: z.string(), node: z.string() })
      .optional()
      .describe('Of a file that Copse keeps.'),
    session: z.string().nullable().optional().describe('Who added it; null for a person, absent for Copse.'),
  })
  .meta({ id: 'Artifact' });

export const process = z.strictObject({
  node: z.string(),
  nodeName: z.string().nullable(),
  isHere: z.boolean(),
  pid: z.number().nullable(),
  isAlive: z.boolean().nullable(),
});

/** A work item of a source that became a task. */
export const item = z.strictObject({
  source: z.string(),
  id: z.string(),
  title: z.string(),
  url: z.string().nullable(),
  task: z.string(),
  status: status.nullable(),
  by: z.string().nullable(),
  isClosed: z.boolean(),
  changedUpstreamAt: time.nullable(),
  report: z
    .strictObject({
      phase: z.enum(['queued', 'working', 'waiting', 'review', 'done', 'cancelled']),
      at: time.nullable(),
      comment: z.string().nullable(),
    })
    .nullable(),
});
