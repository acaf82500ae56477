/** Inputs and outputs of the operations on agents at work. */

import { z } from 'zod';

import { costGroups } from '../../agents/act/cost.ts';
import { runtimes } from '../../agents/rules/runtimes.ts';
import { openPhases } from '../../agents/rules/session/session.ts';
import { statNames } from '../../explain/rules/stats.ts';
import { aTask, taskOrHere, time, usage } from '../shapes/common.ts';
import { question, task } from '../shapes/task.ts';
import { MOST_WEEKS } from './stats.ts';

const attention = z.enum(['permission', 'idle']).describe('It waits for a person.');
const day = z.iso.date().describe('A day in the time zone of the machine.');

export const running = {
  input: z.strictObject({}),
  output: z.strictObject({
    running: z.array(
      z.strictObject({
        task: z.string(),
        title: z.string(),
        agent: z.string(),
        node: z.string(),
        isHere: z.boolean(),
        since: time,
        phase: z.enum(openPhases).nullable(),
        attention: attention.nullable(),
        question: question.nullable(),
        usage: usage.nullable(),
        runner: z.enum(['alive', 'gone', 'never_told', 'elsewhere', 'by hand']),
        pid: z.number().nullable(),
        crashes: z.number(),
      }),
    ),
    limited: z
      .array(z.strictObject({ task: z.string(), until: time }))
      .describe('Tasks whose agent hit a rate limit.'),
    agents: z
      .array(
        z.strictObject({
          name: z.string(),
          runtime: z.enum(runtimes).optional(),
          command: z.string(),
          max: z.number().nullable(),
          capabilities: z.array(z.string()),
          sandbox: z.enum(['none', 'runtime', 'docker']),
          terminal: z.enum(['headless', 'tmux']),
        }),
      )
      .describe('Those that can run on this machine.'),
    unusable: z
      .array(z.strictObject({ name: z.string(), reason: z.string() }))
      .describe('Those of copse.yml that cannot.'),
  }),
};

export const detect = {
  input: z.strictObject({}),
  output: z.strictObject({
    runtimes: z.array(
      z.strictObject({
        runtime: z.enum(runtimes),
        place: z.string().nullable().describe('Null: it is not installed.'),
        version: z.string().nullable(),
        problem: z.string().nullable().describe('Why it does not start.'),
        install: z.string().describe('The command that installs it.'),
      }),
    ),
  }),
};

export const logs = {
  input: z.strictObject({
    task: z.string().describe('The id of a task or a job, or the unique beginning of one.'),
    all: z
      .boolean()
      .optional()
      .describe('All attempts, not only the latest; at most 16 MB, the newest first.'),
    runner: z.boolean().optional().describe('The log of its runner: handbacks, crashes, problems.'),
    lines: z.int().min(0).max(999_999).optional().describe('From the end; 200 without it.'),
    attempt: z.string().optional().describe('Only this attempt; then `next` says where to read on.'),
    after: z.int().min(0).optional().describe('The `next` of the last page of this attempt.'),
  }),
  output: z.strictObject({
    task: z.string(),
    logs: z.array(
      z.strictObject({
        attempt: z.string(),
        file: z.string(),
        isWhole: z.boolean().describe('From its first byte on.'),
        lines: z.array(z.string()),
        next: z.number().optional().describe('The byte after the last line; give it as `after`.'),
      }),
    ),
  }),
};

const spent = z.strictObject({
  tokens: z.number(),
  input: z.number(),
  cached: z.number(),
  output: z.number(),
  dollars: z.number().nullable().describe('Null when no session reported any.'),
  isUnknownInPart: z.boolean().describe('A session in it reports no dollars.'),
  sessions: z.number(),
});

export const cost = {
  input: z.strictObject({
    by: z.enum(costGroups).optional().describe('The default is task.'),
    since: z.string().optional().describe('7d, 12h, a day (2026-11-30) or a time.'),
    plan: z.string().optional().describe('Only the tasks of this plan.'),
  }),
  output: z.strictObject({
    by: z.enum(costGroups),
    since: time.nullable(),
    rows: z.array(
      spent.extend({
        task: z.string().optional(),
        title: z.string().nullable().optional().describe('Null of a deleted task.'),
        agent: z.string().optional(),
        day: day.optional(),
      }),
    ),
    total: spent,
  }),
};

const counts = Object.fromEntries(statNames.map((name) => [name, z.number()])) as Record<
  (typeof statNames)[number],
  z.ZodNumber
>;

export const stats = {
  input: z.strictObject({
    weeks: z.int().min(1).max(MOST_WEEKS).optional().describe('With this one; the default is 8.'),
  }),
  output: z.strictObject({
    weeks: z.number(),
    since: day,
    rows: z.array(z.strictObject({ week: day, agent: z.string(), ...counts })),
    total: z.strictObject(counts),
    days: z
      .array(
        z.strictObject({
          day,
          landed: z.number(),
          leadP50Ms: z.number().describe('From the creation of a task to its landing.'),
          leadP95Ms: z.number(),
          queueP50Ms: z.number().describe('From the queue to its landing.'),
          queueP95Ms: z.number(),
        }),
      )
      .describe('Days on which something landed, the oldest first.'),
  }),
};

export const finish = {
  input: z.strictObject({
    task: taskOrHere,
    noChanges: z.boolean().optional().describe('There was nothing to change.'),
    summary: z.string().optional().describe('What was done, in one or two lines.'),
  }),
  output: z.strictObject({
    task: z
      .union([task, z.string()])
      .describe('The task after work by hand; the id after a report of an agent.'),
    reported: z.literal('finished').optional(),
    noChanges: z.boolean().optional(),
  }),
};

export const stuck = {
  input: z.strictObject({ task: taskOrHere, reason: z.string().describe('The question and the choices.') }),
  output: z.strictObject({
    task: z.string(),
    reported: z.literal('stuck'),
    isDone: z.boolean().describe('False: it is stuck when the agent has ended.'),
  }),
};

export const phase = {
  input: z.strictObject({ task: taskOrHere, phase: z.enum(openPhases) }),
  output: z.strictObject({ task: z.string(), phase: z.enum(openPhases) }),
};

export const heartbeat = {
  input: z.strictObject({ task: taskOrHere }),
  output: z.strictObject({ task: z.string(), alive: z.boolean() }),
};

export const notify = {
  input: z.strictObject({
    task: taskOrHere,
    attention: attention.nullable().describe('Null: it no longer waits.'),
    message: z.string().optional().describe('What it waits for.'),
  }),
  output: z.strictObject({
    task: z.string(),
    attention: attention.nullable(),
    isNew: z.boolean().describe('False: this was known.'),
  }),
};

export const takeOver = {
  input: z.strictObject({
    task: aTask,
    isKept: z
      .boolean()
      .optional()
      .describe(
        'Keep it while no page shows the terminal; otherwise it ends a minute after the last page closed.',
      ),
  }),
  output: z.strictObject({
    task: z.string(),
    session: z.string(),
    person: z.string().nullable().describe('Who may type now.'),
    isKept: z.boolean(),
    since: time,
    isNew: z.boolean().describe('False: this person had taken over before.'),
  }),
};

export const giveBack = {
  input: z.strictObject({ task: aTask }),
  output: z.strictObject({
    task: z.string(),
    isNew: z.boolean().describe('False: no person had taken over.'),
  }),
};
