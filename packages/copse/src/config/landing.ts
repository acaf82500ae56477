import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { mergeMethods } from '../queue/rules/landing.ts';
import { forgeKinds } from '../review/rules/pull-request.ts';
import { duration, formatDuration } from './quantities.ts';
import { rules } from './shape/rules.ts';
import { overrides, section } from './sections.ts';
import { branch, command, commandLines, environment, name, text } from './text.ts';
import { pushFailure } from './workspace.ts';

const checkTimeout = formatDuration(defaultPolicy.landing.checkTimeoutMs);

const check = z
  .union(
    [
      text.transform(rules.changes.check),
      z.strictObject({
        command: command.describe('A shell command, or a list of the program and its arguments.'),
        timeout: duration.describe('Time limit; a check that takes longer is killed.').prefault(checkTimeout),
        env: environment.describe('Environment variables for this check.').prefault({}),
        working_directory: text.describe('Folder to run in, relative to the repository root.').optional(),
      }),
    ],
    { error: 'must be a command line or a mapping with `command`' },
  )
  .describe(
    'A command that must pass before the target moves: a shell command, or a mapping with more settings.',
  );

export const landingPolicies = ['auto', 'review', 'pr', 'none'] as const;

/** Settings that an agent may override; the others belong to the queue of a target. */
const perLanding = {
  policy: z
    .enum(landingPolicies)
    .describe(
      'Next step of finished work: enter the queue, wait for a review, become a pull request, or none.',
    ),
  method: z
    .enum(mergeMethods)
    .describe('How a branch becomes part of the target: linear history, a merge commit, or one commit.'),
  target: branch.describe('Branch that work lands on; default: the detected base branch.'),
  on_conflict: z
    .enum(['handback', 'task', 'skip'])
    .describe(
      'When a branch conflicts with the target: hand it back to its agent, create a task that resolves it, or leave it to a person.',
    ),
};

const perQueue = {
  checks: z
    .record(name, check)
    .describe('Checks by name; the target moves only to trees that passed all of them.'),
  sandbox: z
    .enum(['none', 'runtime'])
    .describe(
      'Sandbox of the checks, their set-up, `lockfiles` and `merge_drivers`, which run what agents wrote; default: `runtime` if an agent has it, else `none`.',
    ),
  sandbox_hosts: z
    .array(text)
    .describe('Hosts that checks in a sandbox may reach, such as `registry.npmjs.org`.'),
  sandbox_write: z
    .array(text)
    .describe(
      'Folders and files that checks in a sandbox may write, besides their worktree; relative to the repository, or from `~/`.',
    ),
  pass_env: z
    .array(text)
    .describe('Variables of yours that checks in a sandbox get although they open a remote or a provider.'),
  slots: z.int().min(1).max(256).describe('Checks that may run at once.'),
  every_commit_green: z.boolean().describe('Check each landing alone instead of in batches.'),
  push: z.boolean().describe('Push the target to the remote after each landing.'),
  on_push_failure: pushFailure.describe(
    'When the target cannot be pushed: stop, continue with a warning, or retry later.',
  ),
  forge: z
    .enum(forgeKinds)
    .describe('The forge of the remote, if its address does not tell; used for pull requests.'),
  lockfiles: z
    .record(text, commandLines)
    .describe('Generated files by path, each with the commands that regenerate it after a conflict.'),
  merge_drivers: z
    .record(text, command)
    .describe(
      'Commands that resolve conflicts, by path pattern, with git’s %O %A %B %P; drivers in git’s own settings are ignored.',
    ),
};

const { landing } = defaultPolicy;

export const landingSection = section(
  { ...perLanding, ...perQueue },
  {
    policy: landing.policy,
    method: landing.method,
    on_conflict: landing.onConflict,
    checks: {},
    sandbox_hosts: [],
    sandbox_write: [],
    pass_env: [],
    slots: landing.checkSlots,
    every_commit_green: landing.everyCommitGreen,
    push: landing.push,
    on_push_failure: landing.onPushFailure,
    lockfiles: {},
    merge_drivers: {},
  },
);

export const landingOverrides = overrides(perLanding);
