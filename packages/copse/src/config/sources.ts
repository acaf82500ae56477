import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { duration } from './quantities.ts';
import { text } from './text.ts';

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
  .describe('Only work items that one of these people asked for become tasks; default: no limit.')
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
      command: text.describe(
        'A shell command, with your permissions. It starts in an empty folder: files of the repository come from agents, so name programs by an absolute path or put them on PATH.',
      ),
      timeout: duration.describe('Time the command may take.').prefault(`${commandTimeoutMs / 1_000}s`),
      only_from: onlyFrom,
      ...common,
    }),
  ])
  .describe('A source of work items; each item becomes one task.');

export type SourceConfig = z.output<typeof source>;
