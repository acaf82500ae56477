import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { text } from './text.ts';

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
