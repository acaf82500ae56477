/** The agents of this repository: those of copse.yml, or else the first installed agent program. */

import { type VendorRuntime, vendorRuntimes } from '../../agents/rules/runtimes.ts';
import {
  type DetectedRuntime,
  detectRuntimes,
  findRuntime,
  installCommand,
} from '../../agents/runtimes/installed.ts';
import { type ProgramLook, lookForProgram } from '../../agents/runtimes/command/program.ts';
import { type Surroundings, findRepository } from '../open.ts';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { loadPending } from '../accepted.ts';
import { baseHasFile } from '../../git/refs/base-has-file.ts';
import { openTrustedDir } from '../../git/directory/trusted-dir.ts';
import { cloneTo, placeOf } from '../../git/directory/elsewhere.ts';
import type { PendingAgents } from '../../orchestrator/rules/schedule.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { outsideOf } from '../../git/directory/work-tree.ts';
import { type EffectiveAgent, effectiveAgent } from '../../config/effective.ts';
import { configFrom } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { sandboxProblem } from './sandbox.ts';

export interface KnownAgents {
  /** In the order of copse.yml, each with its runtime. */
  readonly usable: readonly EffectiveAgent[];
  /** Agents that cannot run here, each with a sentence. */
  readonly unusable: readonly { readonly name: string; readonly reason: string }[];
  /** There is none, but a copse.yml that is not accepted has some. */
  readonly pendingAgents?: PendingAgents;
}

/** With `clones`, repositories of agents that may be cloned are. `isGiven`: a person gave the command just now. */
export async function agentsOf(
  config: Config,
  { env }: Surroundings,
  root: string,
  { clones = false, isGiven = false }: { readonly clones?: boolean; readonly isGiven?: boolean } = {},
): Promise<KnownAgents> {
  const mayTake = outsideOf(findRepository(root));
  const isInstalled = (runtime: VendorRuntime) => findRuntime(runtime, { env, mayTake }) !== undefined;
  const names = Object.keys(config.agents);
  const found = names.length === 0 ? vendorRuntimes.find(isInstalled) : undefined;
  const known = found === undefined ? config : await withAgent(config, found);
  const all = Object.keys(known.agents).flatMap((name) => effectiveAgent(known, name) ?? []);
  const usable: EffectiveAgent[] = [];
  const unusable: { name: string; reason: string }[] = [];
  for (const agent of all) {
    const runtime = agent.runtime ?? vendorRuntimes.find(isInstalled);
    const complete = runtime === undefined ? agent : { ...agent, runtime };
    const reason =
      unusableBecause(complete, isInstalled) ??
      (isGiven ? null : await programProblem(complete, root, env)) ??
      (await sandboxProblem(complete, env, mayTake)) ??
      (await elsewhereProblem(complete, { root, env, clones }));
    if (reason === null) usable.push(complete);
    else unusable.push({ name: agent.name, reason });
  }
  if (all.length > 0) return { usable, unusable };
  const pendingAgents = await agentsToAccept(root);
  return { usable, unusable, ...(pendingAgents !== undefined && { pendingAgents }) };
}

async function agentsToAccept(root: string): Promise<PendingAgents | undefined> {
  const repository = existsSync(path.join(root, 'copse.yml')) ? findRepository(root) : undefined;
  if (repository === undefined) return undefined;
  const { changes, isFirst } = await loadPending(repository);
  const change = changes.find(({ name, now }) => name === 'copse.yml' && now !== null);
  if (isFirst || change === undefined || !/^(["']?)agents\1\s*:/m.test(change.now ?? '')) return undefined;
  return change.problem === null ? 'to_accept' : 'to_correct';
}

/** Why the agent cannot work in its `working_directory`, or null. */
async function elsewhereProblem(
  { name, working_directory: wanted, sandbox, workspace, landing }: EffectiveAgent,
  {
    root,
    env,
    clones,
  }: { readonly root: string; readonly env: Surroundings['env']; readonly clones: boolean },
): Promise<string | null> {
  const board = wanted && findRepository(root);
  if (board === undefined) return null;
  const place = placeOf(board, wanted, env['HOME'] ?? homedir());
  const of = `The agent ${name} works in another repository, and`;
  switch (place.kind) {
    case 'own':
      return null;
    case 'elsewhere':
      // A sandbox would have to hide the board of this repository too.
      if (sandbox !== 'none') return `${of} has the sandbox ${sandbox}, which Copse cannot set up there.`;
      if (landing.policy === 'pr') return `${of} opens pull requests, which Copse does not follow there.`;
      return workspace.strategy === 'static'
        ? `${of} has workspace.strategy static: set it to git_worktree.`
        : null;
    case 'to_clone': {
      if (!clones) return `${of} ${place.reason}.`;
      const failed = await cloneTo(place, wanted, defaultPolicy.workspace.cloneTimeoutMs);
      return failed === null ? null : `${of} ${place.root} could not be cloned: ${failed}.`;
    }
    case 'refused':
      return `${of} ${place.reason}.`;
    default:
      return unreachable(place);
  }
}

/** An agent named after its runtime, with default settings. */
async function withAgent(config: Config, runtime: VendorRuntime): Promise<Config> {
  const { agents } = await configFrom({ agents: { [runtime]: { runtime } } });
  return { ...config, agents };
}

function unusableBecause(
  { name, runtime, command }: EffectiveAgent,
  isInstalled: (runtime: VendorRuntime) => boolean,
): string | null {
  switch (runtime) {
    case undefined:
      return `The agent ${name} has neither a runtime nor a command, and no agent program is installed: give it a \`command\` in copse.yml, or ${installCommand('claude')}.`;
    case 'command':
      return command === undefined
        ? `The agent ${name} has no command: give it a \`command\` in copse.yml.`
        : null;
    case 'acp':
      return command === undefined
        ? `The agent ${name} has no command: name the program that speaks ACP, such as \`command: claude-agent-acp\`.`
        : null;
    default:
      return isInstalled(runtime)
        ? null
        : `Agent ${name} needs the program ${runtime}, which is not installed: ${installCommand(runtime)}.`;
  }
}

/** Why the program of its command cannot start here, or null. */
async function programProblem(
  agent: EffectiveAgent,
  root: string,
  env: Surroundings['env'],
): Promise<string | null> {
  const look = lookForAgent(agent, root, env);
  if (look.kind !== 'not_found') return null;
  const { program } = look;
  const isPath = program.includes('/');
  if (isPath && !path.isAbsolute(program) && (await isInBase(program, root))) return null;
  return `Agent ${agent.name} needs the program ${program}, which ${isPath ? 'does not exist' : 'is not installed'}.`;
}

/** Worktrees begin at the base, which may have a file that the main checkout lacks. */
async function isInBase(program: string, root: string): Promise<boolean> {
  const file = path.posix.normalize(program);
  const repository = findRepository(root);
  const known = repository && baseHasFile(openTrustedDir(repository), file);
  if (known != null) return known;
  const { hasFileInBase } = await import('../on-demand.ts');
  return hasFileInBase(root, file);
}

/** `found` also of one that is looked for elsewhere; `unknown`: a shell or a set-up command provides it. */
export function lookForAgent(agent: EffectiveAgent, root: string, env: Surroundings['env']): ProgramLook {
  const { runtime, command, sandbox, working_directory: elsewhere } = agent;
  if (runtime !== 'command' || command === undefined) return { kind: 'found' };
  // An image and another repository have programs of their own.
  if (sandbox === 'docker' || elsewhere !== undefined) return { kind: 'found' };
  const look = lookForProgram(command, root, { ...env, ...agent.env });
  // So may a worktree after its set-up.
  const isMade = look.kind === 'not_found' && /^[^/].*\//.test(look.program) && hasSetup(agent);
  return isMade ? { kind: 'unknown' } : look;
}

function hasSetup({ workspace }: EffectiveAgent): boolean {
  return (workspace.setup ?? []).length > 0;
}

export type { DetectedRuntime } from '../../agents/runtimes/installed.ts';

/** The installed agent programs, their versions, and whether they start. */
export function detectAgents({ env }: Surroundings, root: string): Promise<readonly DetectedRuntime[]> {
  return detectRuntimes({ env, mayTake: outsideOf(findRepository(root)) });
}
