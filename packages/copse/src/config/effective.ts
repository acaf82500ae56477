/** The effective configuration: overrides merged over the defaults. */
import { defaultPolicy, type Policy } from '../kernel/policy.ts';
import type { AgentConfig, Config } from './schema.ts';

/** The default policy with the numbers that `copse.yml` changes. */
export function policyFrom({ policy, landing, workspace, maintenance, notifications }: Config): Policy {
  const { worktree_cleanup: worktrees, session_cleanup: sessions } = maintenance;
  return {
    ...defaultPolicy,
    lease: { ...defaultPolicy.lease, durationMs: policy.lease, renewEveryMs: policy.lease_renewal },
    orchestration: {
      ...defaultPolicy.orchestration,
      maxAgents: policy.max_agents,
      pollIntervalMs: policy.poll_interval,
      minFreeMemoryBytes: policy.min_free_memory,
      minFreeDiskBytes: policy.min_free_disk,
    },
    nodes: { ...defaultPolicy.nodes, drainMs: policy.drain_within },
    retry: {
      ...defaultPolicy.retry,
      maxRetries: policy.max_retries,
      maxStuckRestarts: policy.max_stuck_restarts,
      firstBackoffMs: policy.first_backoff,
      maxBackoffMs: policy.max_backoff,
    },
    handback: { ...defaultPolicy.handback, ...policy.handbacks },
    session: { ...defaultPolicy.session, contextHandoffShare: policy.context_handoff },
    workspace: { ...defaultPolicy.workspace, commandTimeoutMs: workspace.command_timeout },
    travel: { ...defaultPolicy.travel, everyMs: policy.snapshot_every },
    landing: { ...defaultPolicy.landing, checkSlots: landing.slots },
    maintenance: {
      ...defaultPolicy.maintenance,
      worktreeCleanup: worktrees.enabled,
      cleanupOnStartup: worktrees.cleanup_on_startup,
      pruneUnmergedBranches: worktrees.prune_unmerged_branches,
      sweepEveryMs: worktrees.interval,
      finishedWorktreeAgeMs: worktrees.max_worktree_age,
      abandonedWorktreeAgeMs: worktrees.max_abandoned_age,
      sessionCleanup: sessions.enabled,
      sessionCleanupEveryMs: sessions.interval,
      maxDiskBytes: maintenance.max_disk ?? null,
    },
    notifications: { ...defaultPolicy.notifications, repeatMs: notifications.repeat_interval },
  };
}

export type EffectiveAgent = Omit<AgentConfig, 'workspace' | 'landing' | 'finish' | 'sandbox'> & {
  readonly name: string;
  readonly workspace: Config['workspace'];
  readonly landing: Config['landing'];
  readonly finish: Config['finish'];
  readonly sandbox: NonNullable<AgentConfig['sandbox']>;
};

/** Agent settings merged over the defaults; undefined for an unknown name. */
export function effectiveAgent(config: Config, name: string): EffectiveAgent | undefined {
  const agent = Object.hasOwn(config.agents, name) ? config.agents[name] : undefined;
  if (agent === undefined) return undefined;
  const runtime = agent.runtime ?? (agent.command === undefined ? undefined : 'command');
  const workspace = override(config.workspace, agent.workspace);
  return {
    ...agent,
    name,
    runtime,
    workspace,
    landing: landingFor(override(landingOf(config, agent), agent.landing), workspace),
    finish: override(config.finish, agent.finish),
    sandbox: agent.sandbox ?? (agent.docker.enabled ? 'docker' : defaultPolicy.agent.sandbox),
  };
}

/** `landing.target` is a branch of the board's own repository. */
function landingOf({ landing }: Config, { working_directory: elsewhere }: AgentConfig): Config['landing'] {
  if (elsewhere === undefined) return landing;
  const target = 'default_branch' in elsewhere ? elsewhere.default_branch : undefined;
  // As in a copse.yml that names none.
  return { ...landing, target } as Config['landing'];
}

/** `create_pr` overrides the landing policy. */
export function landingFor(
  landing: Config['landing'],
  { create_pr: createPr }: Pick<Config['workspace'], 'create_pr'>,
): Config['landing'] {
  return createPr ? { ...landing, policy: 'pr' } : landing;
}

function override<T extends object>(base: T, own: { readonly [K in keyof T]?: T[K] | undefined }): T {
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...base, ...(Object.fromEntries(given) as Partial<T>) };
}
