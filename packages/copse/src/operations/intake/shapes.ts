/** Inputs and outputs of the operations on schedules, their runs, triggers and sources. */

import { z } from 'zod';

import { jobResults } from '../../intake/rules/job.ts';
import { passCauses } from '../../intake/rules/schedule.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { time, usage } from '../shapes/common.ts';
import { item, task } from '../shapes/task.ts';

const aSchedule = z.string().describe('<agent>/<name>, or its name if only one agent has it.');
const aSource = z.string().describe('The name of a source in copse.yml.');

const timing = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('interval'), everyMs: z.number() }),
  z.strictObject({
    type: z.literal('cron'),
    expression: z.string(),
    timeZone: z.string(),
    words: z.string().describe('The expression in words.'),
  }),
]);

const schedule = z.strictObject({
  id: z.string(),
  agent: z.string().nullable(),
  name: z.string().nullable(),
  timing: timing.nullable(),
  missed: z
    .enum(['skip', 'once', 'all'])
    .nullable()
    .describe('What happens at times without an orchestrator.'),
  overlap: z.enum(['skip', 'queue']).nullable().describe('What happens at a time during a run.'),
  prompt: z.string().nullable(),
  workSource: z.string().nullable().describe('The source whose items its runs take.'),
  isDefinedHere: z.boolean().describe('The copse.yml here has it, with these times.'),
  isOnBoard: z.boolean().describe('An orchestrator has seen it.'),
  pausedAt: time.nullable(),
  next: z.array(time),
  owed: z.number().describe('Runs that wait for the end of the last one, or for the source.'),
  lastRun: z.strictObject({ task: z.string(), job: z.string(), at: time.nullable() }).nullable(),
  lastPassed: z
    .strictObject({ because: z.enum(Object.keys(passCauses) as (keyof typeof passCauses)[]), at: time })
    .nullable()
    .describe('The last time that started no run.'),
});

export const scheduleList = {
  input: z.strictObject({}),
  output: z.strictObject({ schedules: z.array(schedule) }),
};

const ofSchedule = { input: z.strictObject({ schedule: aSchedule }), output: schedule };

export const scheduleShow = ofSchedule;
export const schedulePause = ofSchedule;
export const scheduleResume = ofSchedule;

const started = z.strictObject({ job: z.string().nullable(), task });

export const scheduleRun = { input: z.strictObject({ schedule: aSchedule }), output: started };

export const trigger = {
  input: z.strictObject({
    trigger: z.string().describe('A trigger of copse.yml, or an agent.'),
    item: z.string().optional().describe('The work item that the job is about, for example github#12.'),
    prompt: z.string().optional().describe('What the agent is told, instead of the prompt of the trigger.'),
  }),
  output: started,
};

const job = z.strictObject({
  id: z.string(),
  by: z.enum(['schedule', 'trigger']),
  schedule: z.string().nullable(),
  trigger: z.string().nullable(),
  item: task.shape.workItem,
  result: z.enum(jobResults),
  createdAt: time,
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  durationMs: z
    .number()
    .nullable()
    .describe('In which an agent worked on it; null before its first attempt.'),
  attempts: z.number(),
  summary: z.string().nullable(),
  error: z.string().nullable(),
  usage: usage.nullable(),
  task,
});

export const jobList = {
  input: z.strictObject({
    all: z
      .boolean()
      .optional()
      .describe(`All of them, not only the latest ${defaultPolicy.schedules.listedJobs}.`),
    limit: z.int().min(1).optional().describe('A page of so many, the newest first.'),
    cursor: z.string().optional().describe('Of an earlier page: the jobs after it.'),
  }),
  output: z.strictObject({
    jobs: z.array(job),
    cursor: z
      .string()
      .nullable()
      .describe('For the next page; null when this is the last one, or the list has no pages.'),
  }),
};

export const jobShow = {
  input: z.strictObject({ job: z.string().describe('The id of a job, or the unique beginning of one.') }),
  output: job,
};

const source = z.strictObject({
  name: z.string(),
  type: z.enum(['markdown', 'github', 'gitlab', 'linear', 'command']),
  place: z.string().describe('The repository, the files or the command.'),
  intervalMs: z.number(),
  onClosed: z.enum(['keep', 'cancel']).describe('What happens to a task whose item is closed.'),
  onlyFrom: z.array(z.string()).nullable().describe('Who may ask for work; null: everyone.'),
  items: z.number().describe('How many of its items are tasks.'),
  syncedAt: time.nullable(),
  problem: z.string().nullable().describe('Of the last look.'),
  rateLimit: z.strictObject({ remaining: z.number().nullable(), until: time.nullable() }).nullable(),
});

export const sourceList = {
  input: z.strictObject({}),
  output: z.strictObject({ sources: z.array(source) }),
};

export const sourceShow = {
  input: z.strictObject({ source: aSource }),
  output: source.extend({ items: z.array(item) }),
};

const step = z.strictObject({
  step: z.enum(['take', 'give', 'note', 'close', 'reopen', 'link', 'leave']),
  item: z.string(),
  task: z.string().nullable(),
  why: z.string().nullable().describe('Why it was not done; null: it was done.'),
});

export const sourceSync = {
  input: z.strictObject({
    sources: z.array(aSource).optional().describe('All without it.'),
    dryRun: z.boolean().optional().describe('Only say what would happen.'),
  }),
  output: z.strictObject({
    sources: z.array(
      z.union([
        z.strictObject({ source: z.string(), problem: z.string().describe('Why it was not read.') }),
        z.strictObject({
          source: z.string(),
          seen: z.number().describe('How many items it has.'),
          steps: z.array(step),
          waiting: z.array(z.string()).describe('Items that schedules take, one with each run.'),
          told: z.array(z.string()).describe('Items to which a result was reported.'),
          notes: z.array(z.string()),
        }),
      ]),
    ),
  }),
};
