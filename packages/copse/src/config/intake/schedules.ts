/** When agents start without a person: schedules, and triggers from outside. */
import * as z from 'zod';
import { defaultPolicy } from '../../kernel/policy.ts';
import { duration } from '../quantities.ts';
import { rules } from '../shape/rules.ts';
import { source } from '../sources.ts';
import { name, text } from '../text.ts';

const { missed, overlap } = defaultPolicy.schedules;

const workSource = z
  .union([name, source], { error: 'must be the name of a source or a mapping with `type`' })
  .describe(
    'Each run takes the next open work item from here: the name of one of `sources`, or a source written here. Its other items wait for later runs.',
  )
  .optional();
const prompt = text
  .describe('The prompt of a run; with `work_source`, it comes before the text of each work item.')
  .optional();

const runs = {
  work_source: workSource,
  prompt,
  missed: z
    .enum(['skip', 'once', 'all'])
    .describe(
      'Times that passed while no orchestrator ran: skip them, start once for all of them, or once for each.',
    )
    .prefault(missed),
  overlap: z
    .enum(['skip', 'queue'])
    .describe(
      'If the last run has not ended at the next time: skip that time, or start once when the run has ended.',
    )
    .prefault(overlap),
};

const cronFields = /^(@(yearly|annually|monthly|weekly|daily|hourly)|(\S+ +){4,5}\S+)$/;

export const schedule = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('interval').describe('Repeat after a fixed time.'),
      interval: duration.describe('Time between two starts; the first is one interval after it is defined.'),
      ...runs,
    }),
    z.strictObject({
      type: z.literal('cron').describe('Start at the times of a cron expression.'),
      cron: z
        .string()
        .regex(cronFields, {
          error: 'must be a cron expression with five or six fields, such as "0 6 * * 1-5"',
        })
        .describe('Cron expression, such as `0 6 * * 1-5`.'),
      time_zone: text
        .describe('Time zone of the expression, such as `Europe/Berlin`; default: UTC.')
        .optional(),
      ...runs,
    }),
  ])
  .check(rules.checks.hasWork)
  .describe('When the agent starts, and with which work.');

export const triggers = z.record(
  name,
  z
    .strictObject({
      agent: name.describe('The agent that starts.'),
      type: z
        .enum(['hmac', 'github', 'gitlab'])
        .describe(
          'How a request shows that it is genuine: a signature of Copse’s own kind, or a webhook of GitHub or GitLab.',
        )
        .prefault('hmac'),
      secret_variable: text.describe('Environment variable of the server that holds the secret.').optional(),
      secret_file: text
        .describe('File that holds the secret; relative to the repository, or from `~/`.')
        .optional(),
      work_source: name
        .describe('The source that is read at once; then a request starts nothing else.')
        .optional(),
      prompt: text.describe('The prompt of the task that a request adds.').optional(),
    })
    .check(rules.checks.hasSecret)
    .check(rules.checks.hasWork),
);
