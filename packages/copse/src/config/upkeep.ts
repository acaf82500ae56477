/** The sections that tune how Copse itself runs: policy, maintenance, notifications. */
import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import {
  duration,
  durationOrZero,
  formatDuration,
  formatShare,
  formatSize,
  share,
  size,
} from './quantities.ts';
import { rules } from './shape/rules.ts';
import { section } from './sections.ts';

const { orchestration, lease, retry, handback, session, maintenance, notifications } = defaultPolicy;

const count = z.int().min(0).max(1_000);

const handbacks = section(
  {
    conflict: count.describe('The branch conflicts with the target.'),
    dirty: count.describe('There are uncommitted changes.'),
    nothing_committed: count.describe('Nothing was committed.'),
    commit_message: count.describe('A commit message does not follow the convention.'),
    accept: count.describe('An `accept` command failed.'),
    checks: count.describe('A check of the landing failed.'),
  },
  handback,
).describe('How often a task goes back to the same agent before a person is asked, by reason.');

export const policySection = section(
  {
    max_agents: count.min(1).describe('How many sessions may run at once on a node.'),
    max_retries: count.describe('With how many crashes a task is `failed`; before that it is tried again.'),
    max_stuck_restarts: count.describe(
      'How often a task that is `stuck` by failing is restarted without being asked; a question to a person never is.',
    ),
    poll_interval: duration.describe('How long the orchestrator waits at most before it looks again.'),
    lease: duration.describe('How long a session holds its task without a sign of life.'),
    lease_renewal: duration.describe('How often a session renews its lease.'),
    first_backoff: durationOrZero.describe(
      'Wait before the first retry; each further wait is twice as long.',
    ),
    max_backoff: durationOrZero.describe('Longest wait before a retry.'),
    min_free_memory: size.describe('No further session starts on a node with less free memory.'),
    min_free_disk: size.describe('No further session starts on a node with less free disk space.'),
    context_handoff: share.describe(
      'How full a session’s context may become before the agent hands over to a new session in the same worktree.',
    ),
    handbacks,
  },
  {
    max_agents: orchestration.maxAgents,
    max_retries: retry.maxRetries,
    max_stuck_restarts: retry.maxStuckRestarts,
    poll_interval: formatDuration(orchestration.pollIntervalMs),
    lease: formatDuration(lease.durationMs),
    lease_renewal: formatDuration(lease.renewEveryMs),
    first_backoff: formatDuration(retry.firstBackoffMs),
    max_backoff: formatDuration(retry.maxBackoffMs),
    min_free_memory: formatSize(orchestration.minFreeMemoryBytes),
    min_free_disk: formatSize(orchestration.minFreeDiskBytes),
    context_handoff: formatShare(session.contextHandoffShare),
    handbacks: {},
  },
).check(rules.checks.timesAgree);

export const maintenanceSection = section(
  {
    worktree_cleanup: section(
      {
        enabled: z.boolean().describe('Whether worktrees are cleaned up without being asked.'),
        interval: duration.describe('Time between two cleanups.'),
        max_worktree_age: durationOrZero.describe('Remove worktrees of finished tasks that are older.'),
        max_abandoned_age: durationOrZero.describe(
          'Release worktrees that had no lease for longer, after a rescue.',
        ),
        cleanup_on_startup: z.boolean().describe('Clean up when the orchestrator starts, too.'),
        prune_unmerged_branches: z.boolean().describe('Delete branches that were never merged, too.'),
      },
      {
        enabled: maintenance.worktreeCleanup,
        interval: formatDuration(maintenance.sweepEveryMs),
        max_worktree_age: formatDuration(maintenance.finishedWorktreeAgeMs),
        max_abandoned_age: formatDuration(maintenance.abandonedWorktreeAgeMs),
        cleanup_on_startup: maintenance.cleanupOnStartup,
        prune_unmerged_branches: maintenance.pruneUnmergedBranches,
      },
    ).describe('Worktrees that nobody needs any more.'),
    session_cleanup: section(
      {
        enabled: z.boolean().describe('Whether expired sessions are cleaned up without being asked.'),
        interval: duration.describe('Time between two cleanups.'),
      },
      {
        enabled: maintenance.sessionCleanup,
        interval: formatDuration(maintenance.sessionCleanupEveryMs),
      },
    ).describe('Sessions that can no longer be resumed.'),
  },
  { worktree_cleanup: {}, session_cleanup: {} },
);

export const notificationsSection = section(
  {
    desktop: z
      .boolean()
      .describe('Show notifications on the desktop, by `notify-send` or `osascript` where there is one.'),
    bell: z.boolean().describe('Ring the bell of the terminal that `copse orchestrate` runs in.'),
    webhook: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .meta({ writeOnly: true })
      .describe('Address that gets every notification as an HTTP POST of JSON, with a `text` for people.'),
    events: z
      .array(z.enum(notifications.events))
      .describe(
        'What to notify about: an agent that asks for permission or is idle, a task that is stuck, needs attention, waits for your review, failed or landed (or is done in another way), a queue that does not move.',
      ),
    repeat_interval: durationOrZero.describe(
      'Least time between two notifications of the same kind about the same task; the later one waits.',
    ),
  },
  {
    desktop: notifications.desktop,
    bell: notifications.bell,
    events: [...notifications.events],
    repeat_interval: formatDuration(notifications.repeatMs),
  },
);
