/**
 * What `copse config check` says beyond the schema: settings of an agent that cannot have an effect, because of its runtime,
 * sandbox or strategy, and those without which it cannot start. Only what the file itself has is named.
 */

import { type EffectiveAgent, effectiveAgent } from '../effective.ts';
import type { Config } from '../schema.ts';
import { valueOf } from './describe.ts';
import { type ConfigProblem, formatPath } from './problems.ts';
import type { Path, Reading } from './read.ts';
import type { RuntimeName } from '../../agents/rules/runtimes.ts';

interface Inert {
  /** Below the agent, dotted. */
  readonly key: string;
  readonly why: string;
}

export function settingsWithoutEffect(
  config: Config,
  reading: Reading,
  file: string,
): readonly ConfigProblem[] {
  const ofAgents = agentsOf(config).flatMap((agent) =>
    inertOf(agent).map(({ key, why }) => ({ path: ['agents', agent.name, ...key.split('.')], why })),
  );
  const ofLanding = inertOfLanding(config).map(({ key, why }) => ({ path: ['landing', key], why }));
  return [...ofAgents, ...ofLanding]
    .filter(({ path }) => path.reduce<unknown>(valueOf, reading.value) !== undefined)
    .map(({ path, why }) => problem(reading, file, path, `has no effect: ${why}`));
}

export function missingSettings(config: Config, reading: Reading, file: string): readonly ConfigProblem[] {
  return agentsOf(config).flatMap(({ name, runtime, command, sandbox, docker }) => {
    const missing: ConfigProblem[] = [];
    const needs = (key: string, what: string) =>
      missing.push(problem(reading, file, ['agents', name, key], `is ${what}`));
    if ((runtime === 'acp' || runtime === 'command') && command === undefined)
      needs('runtime', `${runtime}, which needs agents.${name}.command`);
    if (sandbox === 'docker' && docker.image === undefined)
      needs('sandbox', `docker, which needs agents.${name}.docker.image`);
    return missing;
  });
}

function agentsOf(config: Config): readonly EffectiveAgent[] {
  return Object.keys(config.agents).flatMap((name) => effectiveAgent(config, name) ?? []);
}

function problem(reading: Reading, file: string, path: Path, what: string): ConfigProblem {
  return {
    file,
    path: formatPath(path),
    ...reading.placeOfKey(path),
    message: `${formatPath(path)} ${what}`,
  };
}

function inertOf(agent: EffectiveAgent): readonly Inert[] {
  return [
    { key: 'workspace.pool', why: 'the pool belongs to the repository, so write it under workspace' },
    ...(agent.runtime === undefined ? [] : inertByRuntime(agent.runtime, agent)),
    ...inertBySandbox(agent),
    ...inertByStrategy(agent),
  ];
}

/** What the runtimes cannot do. A missing one can do everything. */
const unable: Readonly<Partial<Record<RuntimeName, readonly string[]>>> = {
  'claude-sdk': ['command', 'prompt_by', 'terminal'],
  claude: ['command', 'prompt_by'],
  codex: ['command', 'prompt_by', 'terminal', 'limits.dollars'],
  gemini: ['command', 'prompt_by', 'terminal', 'limits.dollars'],
  opencode: ['command', 'prompt_by', 'terminal'],
  acp: ['prompt_by', 'terminal'],
  command: ['model', 'permissions', 'limits.tokens', 'limits.dollars'],
};

const whyNot: Readonly<Record<string, string>> = {
  command: 'starts its own program',
  prompt_by: 'always gives the prompt in its own way',
  terminal: 'runs without a terminal',
  model: 'passes its program no model, so name it in agents.<name>.command',
  permissions: 'cannot limit its program, so use a sandbox',
  'limits.tokens': 'does not learn what its program uses, so use limits.time',
  'limits.dollars': 'does not learn what its program costs, so use limits.time or limits.tokens',
};

function inertByRuntime(runtime: RuntimeName, { name, terminal }: EffectiveAgent): readonly Inert[] {
  return (unable[runtime] ?? [])
    .filter((key) => key !== 'terminal' || terminal === 'tmux')
    .map((key) => {
      const why = runtime === 'command' && key === 'limits.dollars' ? whyNot['limits.tokens'] : whyNot[key];
      return { key, why: `the runtime ${runtime} ${(why ?? '').replace('<name>', name)}` };
    });
}

function inertBySandbox({ sandbox }: EffectiveAgent): readonly Inert[] {
  const none = sandbox === 'none' ? ['sandbox_write', 'sandbox_read'] : [];
  const hosts = sandbox === 'runtime' ? [] : ['sandbox_hosts'];
  const docker = sandbox === 'docker' ? [] : ['docker.image', 'docker.env'];
  return [...none, ...hosts, ...docker].map((key) => ({
    key,
    why: `the sandbox of this agent is ${sandbox}`,
  }));
}

/** Of the workspace, in the main checkout and without files. */
const ofWorktrees = [
  'worktree_dir',
  'branch_pattern',
  'fetch_before_setup',
  'push_on_success',
  'create_pr',
  'cleanup_on_failure',
  'commit_message',
  'on_push_failure',
  'share_work',
  'copy',
  'link',
  'sparse',
  'setup',
  'teardown',
];

function inertByStrategy({ workspace: { strategy } }: EffectiveAgent): readonly Inert[] {
  if (strategy === 'git_worktree') return [];
  const why = `its workspace.strategy is ${strategy}, so it has no branch and no worktree of its own`;
  const landing = ['policy', 'method', 'target', 'on_conflict'];
  const keys = [...ofWorktrees.map((key) => `workspace.${key}`), ...landing.map((key) => `landing.${key}`)];
  return keys.map((key) => ({ key, why }));
}

function inertOfLanding({ landing, agents }: Config): readonly Inert[] {
  const isConfined =
    landing.sandbox === 'runtime' ||
    (landing.sandbox === undefined && Object.values(agents).some(({ sandbox }) => sandbox === 'runtime'));
  if (isConfined) return [];
  const why = 'checks run without a sandbox here, so set landing.sandbox';
  return ['sandbox_hosts', 'sandbox_write', 'pass_env'].map((key) => ({ key, why }));
}
