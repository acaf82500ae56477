import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { duration } from './quantities.ts';
import { name, text } from './text.ts';

const { label, statusComments, statusLabels, onClosed, everyMs, commandTimeoutMs } = defaultPolicy.sources;

const issueLabel = text.describe('Only work items with this label become tasks.').prefault(label);
const comments = z
  .boolean()
  .describe('Report a task’s progress as one comment on its work item, edited in place.')
  .prefault(statusComments);
const labels = z
  .boolean()
  .describe('Also show it as one of the labels `copse:working`, `copse:review`, `copse:done`.')
  .prefault(statusLabels);
const onlyFrom = z
  .array(text)
  .min(1)
  .describe('Only work items for which one of these people asked become tasks; default: everyone who may.')
  .optional();

const common = {
  interval: duration.describe('Time between two looks at the source.').prefault(`${everyMs / 1_000}s`),
  on_closed: z
    .enum(['keep', 'cancel'])
    .describe('What happens to the task of a work item that is closed at its source.')
    .prefault(onClosed),
};

export const source = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('markdown').describe('Unchecked `- [ ]` items of Markdown files on the target branch.'),
      files: z.array(text).min(1).describe('Paths or path patterns, relative to the repository root.'),
      ...common,
    }),
    z.strictObject({
      type: z.literal('github').describe('Issues of a GitHub repository.'),
      repo: z
        .string()
        .regex(/^[\w.-]+\/[\w.-]+$/, { error: 'must look like owner/name' })
        .describe('Repository as `owner/name`; default: the git remote.')
        .optional(),
      label: issueLabel,
      only_from: onlyFrom,
      status_comments: comments,
      status_labels: labels,
      ...common,
    }),
    z.strictObject({
      type: z.literal('gitlab').describe('Issues of a GitLab project.'),
      project: z
        .string()
        .regex(/^[\w.-]+(\/[\w.-]+)+$/, { error: 'must look like group/name' })
        .describe('Project with its groups, as `group/name`; default: the git remote.')
        .optional(),
      label: issueLabel,
      only_from: onlyFrom,
      status_comments: comments,
      status_labels: labels,
      ...common,
    }),
    z.strictObject({
      type: z.literal('linear').describe('Issues of a Linear team.'),
      team: text.describe('Key of the team, such as `ENG`.'),
      label: issueLabel,
      only_from: onlyFrom,
      status_comments: comments,
      ...common,
    }),
    z.strictObject({
      type: z.literal('command').describe('Items that a program prints as lines of JSON.'),
      command: text.describe('A shell command. It runs in the repository root, with your permissions.'),
      timeout: duration.describe('Time the command may take.').prefault(`${commandTimeoutMs / 1_000}s`),
      only_from: onlyFrom,
      ...common,
    }),
  ])
  .describe('A source of work items; each item becomes one task.');

export type SourceConfig = z.output<typeof source>;

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
