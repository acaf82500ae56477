/** Inputs and outputs of the operations that read the board. */

import { z } from 'zod';

import { interruptions, openPhases } from '../../agents/rules/session/session.ts';
import { agentName, taskOrHere, time, usage } from '../shapes/common.ts';
import {
  artifact,
  item,
  ledgerEntry,
  process,
  question,
  status as taskStatus,
  task,
} from '../shapes/task.ts';
import { taskOrders } from './list-order.ts';

const attention = z.enum(['permission', 'idle']).describe('It waits for a person.');
const limit = z.int().min(1);

const of = { task: z.string(), title: z.string(), status: taskStatus, since: time };

const needsYou = z.strictObject({
  ...of,
  kind: z.enum([
    'permission',
    'question',
    'review',
    'attention',
    'failed',
    'waiting',
    'landing',
    'dependency',
  ]),
  reason: z.string().describe('One line.'),
  details: z.string().describe('Everything there is to know before answering.'),
  command: z.string().describe('The command that answers it.'),
  unblocks: z.number().describe('How many unfinished tasks wait for it.'),
  agent: z.string().nullable(),
  hasNothingToLand: z.literal(true).optional(),
  hasTerminal: z.literal(true).optional(),
});

export const status = {
  input: z.strictObject({
    readyLimit: limit.optional().describe('At most so many ready tasks; counts has all.'),
  }),
  output: z.strictObject({
    at: time,
    here: z
      .strictObject({ ...of, because: z.array(z.string()), next: z.array(z.string()) })
      .nullable()
      .describe('The task of the caller.'),
    counts: z.record(taskStatus, z.number()),
    isOrchestrated: z.boolean().describe('Whether an orchestrator runs on this machine.'),
    otherNodes: z
      .array(z.string())
      .describe('Names of other nodes that take tasks, if no orchestrator runs on this machine.'),
    noAgents: z
      .strictObject({ text: z.string(), command: z.string() })
      .nullable()
      .describe('Why no agent can run here.'),
    needsYou: z.array(needsYou),
    working: z.array(
      z.strictObject({
        ...of,
        agent: z.string(),
        isByHand: z.boolean(),
        phase: z.string().nullable(),
        node: z.string().nullable(),
        lastLine: z.string().nullable(),
        hasTerminal: z.literal(true).optional(),
        isLapsed: z.literal(true).optional().describe('Its runner is gone; lastLine says since when.'),
        takenOverBy: z.string().optional().describe('Who has taken over its terminal.'),
      }),
    ),
    landing: z.array(
      z.strictObject({
        ...of,
        target: z.string(),
        position: z.number(),
        of: z.number(),
        why: z.string(),
        isUnled: z.literal(true).optional(),
      }),
    ),
    ready: z.array(z.strictObject({ ...of, why: z.string(), isUntakable: z.boolean().optional() })),
  }),
};

export const inbox = {
  input: z.strictObject({}),
  output: z.strictObject({ at: time, needsYou: z.array(needsYou) }),
};

const queuePlace = z.strictObject({
  position: z.number(),
  of: z.number(),
  state: z.enum(['waiting', 'checking', 'green', 'again', 'half', 'held', 'handed_back', 'landing']),
  why: z.string(),
});

const collision = z.strictObject({
  task: z.string(),
  verdict: z.enum(['apart', 'overlap', 'conflict', 'pending']),
  files: z.array(z.string()),
  omittedFiles: z.number(),
  since: time,
});

export const list = {
  input: z.strictObject({
    status: z.array(taskStatus).optional().describe('Only tasks with one of these.'),
    plan: z.string().optional().describe('Only the tasks of this plan.'),
    agent: agentName.optional().describe('Only the tasks for this agent.'),
    all: z.boolean().optional().describe('All finished tasks, not only the latest.'),
    sort: z.enum(taskOrders).optional().describe('The default is status.'),
    limit: limit.optional().describe('At most so many tasks.'),
    cursor: z.string().optional().describe('Of an earlier page: the tasks after it.'),
  }),
  output: z.strictObject({
    tasks: z.array(
      z.strictObject({
        ...task.shape,
        phase: z.enum(openPhases).nullable(),
        attention: attention.nullable(),
        message: z.string().nullable(),
        askedBy: z.string().nullable(),
        question: question.nullable(),
        queue: queuePlace.nullable().describe('Its place in the queue.'),
        collisions: z.array(collision).describe('Branches that conflict or overlap with its own.'),
      }),
    ),
    hasMore: z.boolean(),
    cursor: z.string().nullable().describe('For the next page; null when this is the last one.'),
  }),
};

const attempt = z.strictObject({
  id: z.string(),
  session: z.string(),
  agent: z.string().nullable(),
  node: z.string(),
  pid: z.number().nullable(),
  startedAt: time,
  endedAt: time.nullable(),
  durationMs: z.number().nullable(),
  result: z.enum(['completed', 'stuck', 'cancelled', ...interruptions]).nullable(),
  exitCode: z.number().nullable(),
  usage: usage.nullable(),
  words: z.string().nullable().describe('What its agent said at its end.'),
  snapshot: z
    .strictObject({ commit: z.string(), head: z.string(), at: time })
    .nullable()
    .describe('What another machine could go on from.'),
  travelProblem: z.string().nullable().describe('Why its work does not reach the remote.'),
});

const workspace = z.strictObject({
  node: z.string(),
  worktree: z.string().nullable(),
  branch: z.string().nullable(),
  base: z.string().nullable(),
  baseCommit: z.string().nullable(),
  preparedAt: time,
  is: z.enum(['in_use', 'kept', 'released']),
});

const undone = z.discriminatedUnion('is', [
  z.strictObject({ is: z.literal('begun'), by: z.string(), status: taskStatus }),
  z.strictObject({ is: z.literal('undone'), by: z.string() }),
]);

export const show = {
  input: z.strictObject({ task: taskOrHere }),
  output: z.strictObject({
    ...task.shape,
    phase: z.enum([...openPhases, 'complete', 'stuck', 'cancelled']).nullable(),
    attention: attention.nullable(),
    question: question.nullable(),
    lastQuestion: z
      .strictObject({
        id: z.string(),
        tool: z.string(),
        what: z.string(),
        answer: z.strictObject({ isAllowed: z.boolean(), message: z.string().nullable() }).nullable(),
      })
      .nullable(),
    takenOver: z
      .strictObject({ person: z.string().nullable(), since: time })
      .nullable()
      .describe('The person who has taken over the terminal of its agent.'),
    hasTerminal: z.literal(true).optional().describe('Its agent runs in a terminal of tmux.'),
    process: process.nullable(),
    workspace: workspace.nullable(),
    attempts: z.array(attempt),
    usage: usage.nullable(),
    summary: z.string().nullable(),
    warnings: z.array(z.string()),
    landed: z.strictObject({ commit: z.string(), target: z.string(), at: time }).nullable(),
    undone: undone.nullable(),
    dependants: z.array(z.string()),
    ledger: z.array(ledgerEntry),
    artifacts: z.array(artifact),
    item: item.nullable(),
  }),
};

export const why = {
  input: z.strictObject({ task: taskOrHere }),
  output: z.strictObject({
    task,
    because: z.array(z.string()).describe('The first sentence answers; the others are details.'),
    next: z.array(z.string()).describe('Commands that would change it.'),
  }),
};
