/** The sections about Copse itself: policy, maintenance, notifications. */
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
import { address } from './text.ts';

const { orchestration, lease, nodes, retry, handback, session, maintenance, notifications, travel } =
  defaultPolicy;

const count = z.int().min(0).max(1_000);

const handbacks = section(
  {
    conflict: count.describe('The branch conflicts with the target.'),
    dirty: count.describe('The agent left uncommitted changes.'),
    nothing_committed: count.describe('Nothing was committed.'),
    no_artifact: count.describe('A task without a worktree has no artifact.'),
    not_imported: count.describe('The commits of an import do not have its files.'),
    branch: count.describe('The commits are not on the branch of the task.'),
    commit_message: count.describe('A commit message does not follow the convention.'),
    accept: count.describe('An `accept` command failed.'),
    checks: count.describe('A check of the landing failed.'),
    unfit: count.describe('Files or commits that some git could not check out.'),
  },
  handback,
).describe('Handbacks to the same agent before a person is asked, by reason.');

export const policySection = section(
  {
    max_agents: count.min(1).describe('Sessions at once on a machine.'),
    max_retries: count.describe('Crashes after which a task fails; before that it is retried.'),
    max_stuck_restarts: count.describe(
      'Automatic restarts of a task that is `stuck` or needs attention because of failures, after the delays of retries. Questions to a person, conflicts and limits are never restarted.',
    ),
    poll_interval: duration.describe('Longest time between two looks of the orchestrator at the board.'),
    lease: duration.describe('Time after which a session that does not renew its lease loses its task.'),
    lease_renewal: duration.describe('Time between two renewals of a lease.'),
    first_backoff: durationOrZero.describe(
      'Delay before the first retry; each further delay is twice as long.',
    ),
    max_backoff: durationOrZero.describe('Longest delay before a retry.'),
    min_free_memory: size.describe('Free memory that a machine needs to start a session.'),
    min_free_disk: size.describe('Free disk space that a machine needs to start a session.'),
    drain_within: durationOrZero.describe(
      'How long running work may go on when a node drains; then it is handed over.',
    ),
    context_handoff: share.describe(
      'Share of the model’s context after which the agent hands over to a new session in the same worktree.',
    ),
    snapshot_every: duration.describe(
      'Longest time from a change in a worktree to its snapshot on the remote; only with a board on PostgreSQL.',
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
    drain_within: formatDuration(nodes.drainMs),
    context_handoff: formatShare(session.contextHandoffShare),
    snapshot_every: formatDuration(travel.everyMs),
    handbacks: {},
  },
).check(rules.checks.timesAgree);

export const maintenanceSection = section(
  {
    worktree_cleanup: section(
      {
        enabled: z
          .boolean()
          .describe(
            'Remove old worktrees and branches automatically; `copse sweep` removes them either way.',
          ),
        interval: duration.describe('Time between two sweeps.'),
        max_worktree_age: durationOrZero.describe(
          'Time after which worktrees and merged branches of done and cancelled tasks are removed.',
        ),
        max_abandoned_age: durationOrZero.describe(
          'Time without a lease after which worktrees of tasks in progress are rescued and released.',
        ),
        cleanup_on_startup: z.boolean().describe('Also sweep when the orchestrator starts.'),
        prune_unmerged_branches: z
          .boolean()
          .describe(
            'Also delete unmerged branches of old finished tasks; `refs/copse/keep` holds their commits.',
          ),
      },
      {
        enabled: maintenance.worktreeCleanup,
        interval: formatDuration(maintenance.sweepEveryMs),
        max_worktree_age: formatDuration(maintenance.finishedWorktreeAgeMs),
        max_abandoned_age: formatDuration(maintenance.abandonedWorktreeAgeMs),
        cleanup_on_startup: maintenance.cleanupOnStartup,
        prune_unmerged_branches: maintenance.pruneUnmergedBranches,
      },
    ).describe('Cleanup of worktrees and branches.'),
    session_cleanup: section(
      {
        enabled: z.boolean().describe('Delete the complete output of expired sessions automatically.'),
        interval: duration.describe('Time between two cleanups.'),
      },
      {
        enabled: maintenance.sessionCleanup,
        interval: formatDuration(maintenance.sessionCleanupEveryMs),
      },
    ).describe('Cleanup of sessions that ended 7 days ago and whose task is done, cancelled or deleted.'),
    max_disk: size.describe(
      'Disk space for worktrees, trash, logs and artifacts on this machine. Above it, a sweep removes the oldest of what is safe, and nothing else. Default: no limit.',
    ),
  },
  { worktree_cleanup: {}, session_cleanup: {} },
);

export const notificationsSection = section(
  {
    desktop: z
      .boolean()
      .describe('Show notifications on the desktop, with `notify-send` or `osascript` if installed.'),
    bell: z.boolean().describe('Ring the bell of the terminal of `copse orchestrate`.'),
    webhook: address.describe(
      'Address that gets every notification as a JSON POST, with a `text` for people.',
    ),
    events: z
      .array(z.enum(notifications.events))
      .describe(
        'Events to notify about: an agent asks for permission or is idle; a task is stuck, needs attention, waits for review, failed, or landed (or is otherwise done); a queue is stalled.',
      ),
    repeat_interval: durationOrZero.describe(
      'Shortest time between two notifications of the same kind about the same task; the later one waits.',
    ),
  },
  {
    desktop: notifications.desktop,
    bell: notifications.bell,
    events: [...notifications.events],
    repeat_interval: formatDuration(notifications.repeatMs),
  },
);
