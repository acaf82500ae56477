import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { duration, formatDuration } from './quantities.ts';
import { overrides, section } from './sections.ts';
import { branchPattern, commandLines, messagePattern, text } from './text.ts';
import { workspaceDefaults } from './workspace-defaults.ts';

export const pushFailure = z.enum(['fail', 'warn', 'retry']);

const keys = {
  strategy: z
    .enum(['git_worktree', 'static', 'none'])
    .describe(
      'Where a session works: in its own worktree, in the main checkout (one session at a time), or nowhere (tasks without code).',
    ),
  worktree_dir: text.describe('Folder for worktrees, relative to the repository root.'),
  branch_pattern: branchPattern.describe(
    'Name of a task’s branch, with the placeholders {task} {slug} {agent} {workItem} {jobId} {date} {schedule}; at least one of {task}, {jobId} and {workItem}, which tell tasks apart.',
  ),
  fetch_before_setup: z
    .boolean()
    .describe('Fetch from the remote before creating a branch, so that it starts at the newest base.'),
  push_on_success: z.boolean().describe('Push the task’s branch when its session finishes.'),
  create_pr: z
    .boolean()
    .describe(
      'Open a pull request when a session finishes; the same as `landing.policy: pr`, and overrides it.',
    ),
  cleanup_on_failure: z
    .boolean()
    .describe('Remove the worktree of a failed task; uncommitted files are rescued first. No effect yet.'),
  commit_message: messagePattern.describe(
    'Message of the commit that Copse creates with `finish.on_dirty: commit`; {summary} is the agent’s summary.',
  ),
  on_push_failure: pushFailure.describe(
    'When the task’s branch cannot be pushed or its pull request cannot be opened: leave the task to a person, continue with a warning, or retry later.',
  ),
  share_work: z
    .boolean()
    .describe(
      'With a board on PostgreSQL, push snapshots of unfinished and finished work to the remote (`refs/copse/work`), so that other machines can go on with it and land it.',
    ),
  copy: z
    .array(text)
    .describe(
      'Ignored files and folders to copy from the main checkout into each new worktree, such as `.env`.',
    ),
  link: z
    .array(text)
    .describe('Ignored files and folders to link instead of copying, such as `node_modules`.'),
  sparse: z.array(text).describe('Folders to check out; default: all files.'),
  setup: commandLines.describe(
    'Commands that set up a new worktree; their output is logged. Default: the setup of Cursor or Conductor in this repository; [] for none.',
  ),
  teardown: commandLines.describe(
    'Commands that run before a worktree is removed, in a checkout of its base; COPSE_WORKTREE_PATH is the worktree.',
  ),
  command_timeout: duration.describe('Time limit of each setup and teardown command.'),
  pool: z
    .union([z.literal('auto'), z.int().min(0).max(100)], {
      error: 'must be auto or a whole number from 0 to 100',
    })
    .describe('Checked-out worktrees to keep ready: a number, 0 for none, or `auto` by use.'),
};

const defaults = {
  ...workspaceDefaults(),
  command_timeout: formatDuration(defaultPolicy.workspace.commandTimeoutMs),
};

export const workspaceSection = section(keys, defaults);

export const workspaceOverrides = overrides(keys);

export type WorkspaceSettings = z.output<typeof workspaceSection>;
