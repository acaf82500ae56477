import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { duration } from './quantities.ts';
import { name, text } from './text.ts';

const { label, statusComments } = defaultPolicy.sources;

const issueLabel = text.describe('Only work items with this label become tasks.').prefault(label);
const comments = z
  .boolean()
  .describe('Report a task’s progress as comments on its work item.')
  .prefault(statusComments);

export const source = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('markdown').describe('Unchecked `- [ ]` items of Markdown files.'),
      files: z.array(text).min(1).describe('Paths or path patterns, relative to the repository root.'),
    }),
    z.strictObject({
      type: z.literal('github').describe('Issues of a GitHub repository.'),
      repo: z
        .string()
        .regex(/^[\w.-]+\/[\w.-]+$/, { error: 'must look like owner/name' })
        .describe('Repository as `owner/name`; default: the git remote.')
        .optional(),
      label: issueLabel,
      status_comments: comments,
    }),
    z.strictObject({
      type: z.literal('linear').describe('Issues of a Linear team.'),
      team: text.describe('Key of the team, such as `ENG`.'),
      label: issueLabel,
      status_comments: comments,
    }),
  ])
  .describe('A source of work items; each item becomes one task. No effect yet.');

const workSource = z
  .union([name, source], { error: 'must be the name of a source or a mapping with `type`' })
  .describe('Work items for this schedule: the name of one of `sources`, or a source written here.')
  .optional();
const prompt = text.describe('The prompt for runs without a work item.').optional();

const cronFields = /^(@(yearly|annually|monthly|weekly|daily|hourly)|(\S+ +){4,5}\S+)$/;

export const schedule = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('interval').describe('Repeat after a fixed time.'),
      interval: duration.describe('Time between two starts.'),
      work_source: workSource,
      prompt,
    }),
    z.strictObject({
      type: z.literal('cron').describe('Start at the times of a cron expression.'),
      cron: z
        .string()
        .regex(cronFields, {
          error: 'must be a cron expression with five or six fields, such as "0 6 * * 1-5"',
        })
        .describe('Cron expression, such as `0 6 * * 1-5`.'),
      work_source: workSource,
      prompt,
    }),
  ])
  .describe('When the agent starts, and with which work. No effect yet.');
