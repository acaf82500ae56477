/** Opens everything that running agents and landing their work needs. */

import { existsSync } from 'node:fs';

import { openMerging } from '../../queue/merge/open.ts';
import { processesOfAttempt } from '../../processes/end.ts';
import { openRunners } from '../../agents/files/runners.ts';
import { openArtifacts } from '../../agents/files/artifacts.ts';
import { runCommands } from '../../workspaces/files/commands.ts';
import { type OtherRepositories, RepositoryGone, type RunContext } from '../../queue/context.ts';
import type { Board } from '../../board/port.ts';
import type { Patience } from '../../board/patient.ts';
import {
  type Repository,
  type Surroundings,
  attemptSettings,
  configOf,
  findRepository,
  openWorkspaces,
  requireRepository,
  rootsOf,
} from '../open.ts';
import { fail } from '../../operations/failure.ts';
import type { Policy } from '../../kernel/policy.ts';
import { agentsOf } from './agents.ts';
import { type ChecksConfinement, checksIn, checksOf } from './checks.ts';
import { forgeOf } from './forge.ts';
import { hooksOfLost } from './hooks.ts';
import { intakeOf } from './intake.ts';
import { machine } from '../machine.ts';
import { programFile, systemTimer } from '../parts.ts';
import { openRadar } from './radar.ts';
import { resolvingOf } from './resolving.ts';
import { type SourceDefinition, sourceDefinitions } from '../../intake/act/settings.ts';
import { sourcesOf } from './sources.ts';
import { openSourceMemories } from '../../intake/files/memory.ts';
import { type EffectiveAgent, landingFor } from '../../config/effective.ts';
import { configFrom } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';

/** Settings that a runner gets with its orders. */
export interface AttemptSettings {
  readonly agent: EffectiveAgent;
  readonly policy: Policy;
}

export interface OpenRunOptions {
  /** A shell command to use as the agent, instead of the agents in copse.yml. */
  readonly command?: string | undefined;
  /** Acts for this machine, not for the person who started it. */
  readonly asNode?: boolean;
  /** Waits for a board whose server is away. */
  readonly patience?: Patience;
  /** A board that is open already. */
  readonly lent?: Board | undefined;
  /** Changes of the command line to the policy, for runners too. */
  readonly limited?: (policy: Policy) => Policy;
}

export interface OpenRun {
  readonly context: RunContext;
  /** Agents of copse.yml that cannot run here, each with a reason. */
  readonly unusable: readonly { readonly name: string; readonly reason: string }[];
  close(): Promise<void>;
}

export async function openRun(surroundings: Surroundings, options: OpenRunOptions = {}): Promise<OpenRun> {
  const repository = requireRepository(surroundings);
  const settings = await settingsFor(repository, surroundings, options);
  const opened = await openWorkspaces(surroundings, { patience: options.patience, lent: options.lent });
  const { agents, unusable, intake } = settings;
  const rootOf = await rootsOf(repository, surroundings);
  const { whole } = opened;
  const others = new Map<string, Promise<OpenParts>>();
  const own = partsOf(opened, { repository: opened.repository, surroundings, options, settings });
  const openAt = async (root: string): Promise<OpenParts> => {
    const agent = agents.find(({ name }) => rootOf(name) === root);
    const there = existsSync(root) ? findRepository(root) : undefined;
    if (there === undefined) throw new RepositoryGone(root);
    const at = { repository: there, context: whole };
    const parts = await openWorkspaces(surroundings, { ...(agent && { agent }), at });
    // Without an agent that is to work there any more, a person can still look, stop and land.
    const { landing, finish } = agent ?? settings;
    const ofAgent = { ...settings, landing, finish, sources: [], ...(!agent && { agents: [] }) };
    const made = partsOf(parts, { repository: there, surroundings, options, settings: ofAgent });
    return { ...made, context: { ...made.context, rootOf } };
  };
  const elsewhere: OtherRepositories = {
    roots: [...new Set(agents.flatMap(({ name }) => rootOf(name) ?? []))],
    async at(root) {
      const known = others.get(root) ?? openAt(root);
      others.set(root, known);
      try {
        return (await known).context;
      } catch (error) {
        others.delete(root);
        throw error;
      }
    },
  };
  return {
    // An attempt elsewhere is in its own repository already.
    context: {
      ...own.context,
      ...(intake && { intake }),
      rootOf,
      ...(opened.repository.commonDir === repository.commonDir && { elsewhere }),
    },
    unusable,
    async close() {
      const all = await Promise.allSettled(others.values());
      for (const one of all) if (one.status === 'fulfilled') await one.value.close();
      await own.close();
      await own.context.board.close();
    },
  };
}

interface OpenParts {
  readonly context: RunContext;
  close(): Promise<void>;
}

interface PartsSurroundings {
  readonly repository: Repository;
  readonly surroundings: Surroundings;
  readonly options: OpenRunOptions;
  readonly settings: RunSettings;
}

/** The parts of one repository. */
function partsOf(
  { context: workspaces, dir }: Awaited<ReturnType<typeof openWorkspaces>>,
  { repository, surroundings, options, settings }: PartsSurroundings,
): OpenParts {
  const { home, node } = workspaces;
  const { agents, unusable, pendingAgents, landing, finish, board } = settings;
  const policy = options.limited?.(workspaces.policy) ?? workspaces.policy;
  const confined = checksIn(settings.checks, repository, workspaces, surroundings);
  const resolving = resolvingOf(dir, landing, { policy, confined });
  const merging = openMerging(dir, {
    resolve: (conflict) => resolving.resolve(conflict),
    mainCheckout: repository.configFolder,
    pushTimeoutMs: workspaces.policy.workspace.fetchTimeoutMs,
  });
  const sourceMemories = openSourceMemories(home);
  const context: RunContext = {
    ...workspaces,
    policy,
    ...(options.asNode && { by: { kind: 'node', node } }),
    pid: process.pid,
    clock: systemTimer,
    machine,
    merging,
    resolving,
    radar: openRadar(repository, dir),
    forge: forgeOf(dir, { kind: landing.forge, env: surroundings.env, policy }),
    checks: checksOf(dir, { ...workspaces, policy }, confined),
    commands: { run: runCommands },
    hooks: hooksOfLost(agents, repository, workspaces, surroundings),
    artifacts: openArtifacts(home),
    runners: openRunners({
      home,
      program: [process.execPath, ...RUNNER_FLAGS, programFile('runner')],
      // With the board's address, because copse.yml may change before a runner starts.
      environment: { ...(board && { COPSE_BOARD: board }), ...surroundings.env },
      processesOf: processesOfAttempt,
      identify: (pid) => workspaces.occupancy.identify(pid),
      settingsOf: (orders): AttemptSettings => {
        const agent = agents.find(({ name }) => name === orders.agent);
        if (agent === undefined) throw new Error(`There is no agent ${orders.agent} here`);
        return { agent, policy };
      },
    }),
    agents,
    ...(options.command !== undefined && { agentCommand: options.command }),
    unusable,
    pendingAgents,
    sourceMemories,
    sources: sourcesOf(settings.sources, {
      dir,
      repository,
      workspaces,
      env: surroundings.env,
      memories: sourceMemories,
      forge: landing.forge,
    }),
    landing,
    finish,
  };
  return {
    context,
    async close() {
      await merging.close();
      await context.git.close();
    },
  };
}

/** Fewer garbage collections at the start, and a small heap to copy when it starts git. */
const RUNNER_FLAGS = ['--min-semi-space-size=4', '--max-semi-space-size=4'] as const;

type RunSettings = Pick<RunContext, 'agents' | 'pendingAgents' | 'intake' | 'landing' | 'finish'> &
  Pick<OpenRun, 'unusable'> & {
    readonly board: string | undefined;
    readonly checks: ChecksConfinement;
    readonly sources: readonly SourceDefinition[];
  };

/** Of copse.yml; for a command of an attempt, those that the attempt was started with. */
async function settingsFor(
  repository: Repository,
  surroundings: Surroundings,
  { command, asNode = false }: OpenRunOptions,
): Promise<RunSettings> {
  const own = attemptSettings(repository, surroundings);
  if (own !== undefined) {
    const { agent } = own;
    const { landing, finish } = agent;
    const usual = { agents: [agent], unusable: [], landing, finish };
    return { ...usual, board: undefined, checks: { landing, agents: [agent] }, sources: [] };
  }
  const written = await configOf(repository);
  const config = await withCommand(written, command);
  const known = await agentsOf(config, surroundings, repository.configFolder, {
    clones: asNode,
    isGiven: command !== undefined,
  });
  const { usable: agents, unusable, pendingAgents } = known;
  const { finish, board } = config;
  // Its schedules keep their sources, also while another agent works here.
  const sources = sourceDefinitions(written);
  const landing = landingFor(config.landing, config.workspace);
  const checks = { landing, agents: Object.values(config.agents), board };
  // With another agent than those of copse.yml, their schedules are not this process's.
  const intake = command === undefined ? await intakeOf(config) : undefined;
  const usual = { agents, unusable, pendingAgents, landing, finish };
  return { ...usual, board, checks, sources, ...(intake && { intake }) };
}

async function withCommand(config: Config, command: string | undefined): Promise<Config> {
  if (command === undefined) return config;
  if (command.trim() === '')
    fail('invalid', '--command is empty: write the command of your agent.', 'copse help agents');
  const { agents } = await configFrom({ agents: { command: { command } } });
  return { ...config, agents };
}
