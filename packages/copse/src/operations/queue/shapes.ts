/** Inputs and outputs of the operations on queues and branches. */

import { z } from 'zod';

import { defaultPolicy } from '../../kernel/policy.ts';
import { aTask, time } from '../shapes/common.ts';
import { task } from '../shapes/task.ts';
import { handbackReasons } from '../../tasks/rules/task.ts';

const texts = z.array(z.string());
const someTasks = z.array(aTask).min(1);
const target = z.string().optional().describe('A branch that tasks land on; the default is the usual one.');
const dryRun = z.boolean().optional().describe('Change nothing; only say which checks would restart.');
const restarts = z.number().describe('How many running checks restart.');

const paused = z.strictObject({ since: time, reason: z.string().nullable() }).nullable();
const switches = z
  .strictObject({ accept: paused, land: paused })
  .describe('accept: tasks that join it wait. land: nothing lands.');

const run = z.strictObject({
  run: z.number(),
  slot: z.number(),
  purpose: z.enum(['batch', 'again', 'half', 'second_half', 'probe', 'target', 'alone']),
  says: z.string(),
  about: texts.describe('The tasks of its batch.'),
  tasks: texts.describe('All tasks that are merged into its commit.'),
  commit: z.string(),
  since: time,
  of: z.number().nullable().describe('The failed run whose batch was split into halves; null: not a half.'),
});

const ended = run.extend({
  until: time,
  ending: z.enum(['passed', 'failed', 'dropped']).describe('dropped: it ended without a verdict.'),
});

const alarm = z.strictObject({
  kind: z.enum(['paused', 'closed', 'stalled', 'no_checks', 'red', 'no_leader']),
  text: z.string(),
  since: time.nullable(),
  next: texts.describe('Commands that end it.'),
});

const entry = z.strictObject({
  position: z.number(),
  task: z.string(),
  landing: z.string(),
  title: z.string(),
  state: z.enum(['waiting', 'checking', 'green', 'again', 'half', 'held', 'handed_back', 'landing']),
  why: z.string(),
  behind: texts.describe('Tasks that land or must be done before it.'),
  range: z
    .strictObject({ fromMs: z.number(), toMs: z.number() })
    .nullable()
    .describe('Until it has landed: the shortest and the longest time.'),
  queuedAt: time,
  isHotfix: z.boolean(),
  isUnchecked: z.boolean().describe('A person lets it land without checks.'),
});

const queue = z.strictObject({
  target: z.string().describe('The branch that its tasks land on.'),
  isLed: z.boolean().describe('A process lands its tasks now.'),
  isVerified: z.boolean().describe('It has checks.'),
  slots: z.strictObject({ busy: z.number(), of: z.number() }),
  train: z.number().describe('How many changes passed and will land together.'),
  isTargetRed: z.boolean().describe('The target fails its checks with nothing merged into it.'),
  usualMs: z.number().nullable().describe('How long its checks usually take.'),
  paused: switches,
  stalled: z.strictObject({ since: time, reason: z.string() }).nullable(),
  trouble: z.strictObject({ reason: z.string(), times: z.number(), until: time }).nullable(),
  alarms: z.array(alarm).describe('What holds up the whole queue.'),
  checks: z.array(run),
  lost: z.array(run).describe('Checks whose process was killed; the next leader starts them again.'),
  ended: z.array(ended).describe('Checks that ended lately, the oldest first.'),
  entries: z.array(entry),
  figures: z.strictObject({
    oldestMs: z.number().nullable(),
    landedLastHour: z.number(),
    p50Ms: z.number().nullable().describe('From queued to landed.'),
    p95Ms: z.number().nullable(),
    checksPerLanded: z.number().nullable(),
  }),
  landed: z.array(
    z.strictObject({
      landing: z.string(),
      task: z.string(),
      commit: z.string(),
      at: time,
      tookMs: z.number(),
      isVerified: z.boolean(),
    }),
  ),
});

export const list = {
  input: z.strictObject({
    target: z
      .string()
      .optional()
      .describe('Only the queue of this branch; the default is all with entries or a pause.'),
  }),
  output: z.strictObject({ queues: z.array(queue) }),
};

const ofTask = { task: z.string() };

export const merge = {
  input: z.strictObject({
    tasks: someTasks,
    head: z
      .string()
      .optional()
      .describe('A commit, or its first 7 characters: land the one task only if its branch is still there.'),
    now: z
      .boolean()
      .optional()
      .describe('Land without checks; Copse records that, and still refuses conflicts.'),
    waitSeconds: z
      .int()
      .min(0)
      .max(defaultPolicy.operations.mostLandingSeconds)
      .optional()
      .describe(
        `How long to wait; the default is ${defaultPolicy.operations.landingSeconds}. Tasks that did not land by then stay in the queue.`,
      ),
  }),
  output: z.strictObject({
    landings: z.array(
      z.discriminatedUnion('landing', [
        z.strictObject({
          landing: z.literal('landed'),
          ...ofTask,
          commit: z.string(),
          isVerified: z.boolean().describe('Its checks passed.'),
          promoted: texts.describe('Tasks that are ready now.'),
          notes: texts,
          removed: z
            .strictObject({
              worktree: z.string().nullable(),
              branch: z.string().nullable(),
              branchDeleted: z.boolean(),
            })
            .optional(),
        }),
        z.strictObject({ landing: z.literal('waits'), ...ofTask, reason: z.string() }),
        z.strictObject({
          landing: z.literal('refused'),
          ...ofTask,
          cause: z.strictObject({
            because: z.enum(handbackReasons),
            reason: z.string(),
            files: texts.optional(),
            with: texts.optional(),
          }),
        }),
        z.strictObject({ landing: z.literal('gone'), ...ofTask, reason: z.string() }),
      ]),
    ),
  }),
};

export const front = {
  input: z.strictObject({ tasks: someTasks, dryRun }),
  output: z.strictObject({ tasks: texts, restarts, isDryRun: z.boolean() }),
};

export const cancel = {
  input: z.strictObject({ tasks: someTasks, reason: z.string().optional(), dryRun }),
  output: z.strictObject({
    tasks: z.array(task).describe('Those that left the queue; none in a dry run.'),
    restarts,
    isDryRun: z.boolean(),
  }),
};

const both = z.strictObject({ target: z.string(), paused: switches });

export const pause = {
  input: z.strictObject({
    land: z.boolean().optional().describe('Land nothing and start no checks; the default.'),
    accept: z.boolean().optional().describe('Land the tasks in the queue; tasks that join it later wait.'),
    reason: z.string().optional().describe('Shown to people who wait.'),
    target,
  }),
  output: both,
};

export const resume = {
  input: z.strictObject({
    land: z.boolean().optional().describe('Land again.'),
    accept: z.boolean().optional().describe('Accept tasks again. With neither: both.'),
    target,
  }),
  output: both,
};

export const retry = {
  input: z.strictObject({ tasks: someTasks }),
  output: z.strictObject({
    landings: z.array(
      z.strictObject({ id: z.string(), task: z.string(), target: z.string(), head: z.string() }),
    ),
  }),
};

export const radar = {
  input: z.strictObject({ task: aTask.optional().describe('Only the pairs of this task.') }),
  output: z.strictObject({
    at: time,
    branches: z.array(z.strictObject({ task: z.string(), branch: z.string(), tip: z.string() })),
    pairs: z.array(
      z.strictObject({
        tasks: texts,
        tips: texts,
        verdict: z
          .enum(['apart', 'overlap', 'conflict', 'pending'])
          .describe('overlap: both change the same files, and git can merge them.'),
        files: texts,
        omittedFiles: z.number(),
        since: time,
      }),
    ),
    omitted: z.number().describe('How many pairs are left out.'),
  }),
};
