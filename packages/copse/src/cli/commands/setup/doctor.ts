import { statfs } from 'node:fs/promises';

import { gitVersion, hasBase } from '../../../compose/on-demand.ts';
import { loadPending } from '../../../compose/accepted.ts';
import { stoppedAttempts } from '../../../compose/board/who-runs.ts';
import {
  type Repository,
  configOf,
  findRepository,
  nodeHere,
  openContext,
  requireRepository,
} from '../../../compose/open.ts';
import type { Context } from '../../../board/context.ts';
import type { Board, ConnectionFacts } from '../../../board/port.ts';
import { isHeard, silenceText } from '../../../machines/rules/node.ts';
import { offsetText } from '../nodes/show.ts';
import type { EffectiveAgent } from '../../../config/effective.ts';
import type { Confinement } from '../../../compose/run/confinement.ts';
import { waitText } from '../../../explain/rules/queue.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';
import type { MergeQueue } from '../../../queue/rules/merge-queue.ts';
import type { WaitReason } from '../../../queue/rules/wait-reason.ts';
import { splitRemark } from '../../../kernel/shell.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { time } from '../../../kernel/time.ts';
import { delayCauses } from '../../../tasks/rules/task.ts';
import { Unavailable } from '../../../kernel/unavailable.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { PENDING_REMEDY, pendingText } from '../../pending.ts';
import { splitInstall } from '../../after/install-step.ts';
import { printStep } from '../../after/next-steps.ts';
import { stepLines } from '../../after/step-lines.ts';
import { printProse } from '../../screen/screen.ts';

interface Options {
  readonly json?: boolean;
}

/** The column of what was found. */
const FOUND_AT = 13;

interface HealthCheck {
  readonly name: string;
  /** `missing`: it is not there, which is a fault only for agents that need it. */
  readonly state: 'fine' | 'missing' | 'problem';
  readonly found: string;
  readonly remedy: string | null;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const checks = [
    node(),
    await git(),
    repository(cli),
    ...(await commit(cli)),
    ...(await withSettings(cli)),
    await disk(cli),
    ...(await confinement(cli)),
  ];
  if (options.json) {
    cli.output.json({
      checks: checks.map(({ remedy, ...check }) => {
        const ok = check.state !== 'problem';
        return { ...check, remedy: remedy && splitRemark(remedy).command, ok };
      }),
    });
  } else {
    for (const { name, state, found, remedy } of checks) {
      const [colour, mark] = marks[state];
      const lines = shown(found).replaceAll('\n', `\n${' '.repeat(FOUND_AT)}`);
      printProse(
        cli.output,
        `${cli.output.style(colour, mark)} ${name.padEnd(FOUND_AT - 3)} ${lines}`,
        FOUND_AT,
      );
      for (const line of remedy ? stepLines(remedy) : []) printStep(cli.output, line);
    }
  }
  if (!options.json && checks.some(({ state }) => state === 'missing'))
    cli.output.line(cli.output.style('dim', 'Lines with – are optional.'));
  const bad = checks.filter(({ state }) => state === 'problem').length;
  if (bad > 0)
    fail(
      'unhealthy',
      `${bad} of ${checks.length} checks failed.`,
      'Fix each line with ✗: its arrow (→) says how. Then: copse doctor',
    );
}

const marks = { fine: ['green', '✓'], missing: ['yellow', '–'], problem: ['red', '✗'] } as const;

function node(): HealthCheck {
  return fine('node', process.versions.node);
}

async function git(): Promise<HealthCheck> {
  const git = await gitVersion();
  if (git.kind === 'not_found') return problem('git', 'not found', `Install git ${git.required} or newer.`);
  return git.isNewEnough
    ? fine('git', git.version)
    : problem('git', git.version, `Copse needs git ${git.required} or newer: update it.`);
}

function repository(cli: Cli): HealthCheck {
  let found;
  try {
    found = findRepository(cli.cwd);
  } catch (error) {
    if (error instanceof Unavailable) return problem('repository', error.message, error.remedy);
    throw error;
  }
  return found
    ? fine('repository', found.top)
    : problem(
        'repository',
        `${cli.cwd} is not inside a git repository`,
        'Go into a repository, or create one here: git init',
      );
}

async function commit(cli: Cli): Promise<readonly HealthCheck[]> {
  try {
    if (findRepository(cli.cwd) === undefined) return [];
    if (await hasBase(cli)) return [fine('commit', 'the repository has a commit to start worktrees from')];
  } catch (error) {
    // Said of the repository.
    if (error instanceof Unavailable) return [];
    throw error;
  }
  const found = 'the repository has no commit, so no worktree can be made';
  const { top, commonDir } = requireRepository(cli);
  const remedy =
    top === commonDir
      ? 'This repository is bare: push a commit to it from a clone.'
      : 'git commit --allow-empty --message="First commit"';
  return [problem('commit', found, remedy)];
}

/** Neither the board nor the agents can be looked at without a repository and its settings. */
async function withSettings(cli: Cli): Promise<readonly HealthCheck[]> {
  let found;
  try {
    found = findRepository(cli.cwd);
  } catch (error) {
    // Said of the repository.
    if (error instanceof Unavailable) return [];
    throw error;
  }
  if (found === undefined) return [];
  try {
    return [await settings(found), ...(await board(cli)), ...(await agents(cli, found))];
  } catch (error) {
    if (error instanceof Unavailable) return [problem('settings', error.message, error.remedy)];
    throw error;
  }
}

/** What the repository's own files may decide. */
async function settings(found: Repository): Promise<HealthCheck> {
  const pending = await loadPending(found);
  const text = pending.isFirst ? null : pendingText(pending);
  if (text !== null) return problem('settings', text, PENDING_REMEDY);
  await configOf(found);
  const files = Object.entries(pending.present.files).flatMap(([name, is]) => (is === null ? [] : [name]));
  return fine(
    'settings',
    files.length === 0 ? 'no copse.yml: the defaults' : `accepted: ${files.join(', ')}`,
  );
}

/** Opening the board also reads copse.yml; an empty transaction shows that the board is writable. */
async function board(cli: Cli): Promise<readonly HealthCheck[]> {
  try {
    const context = await openContext(cli);
    try {
      await context.board.transact(() => Promise.resolve());
      const damage = await context.board.findDamage();
      if (damage.length > 0) {
        const found = `${context.board.location} is damaged: ${damage.join('; ')}`;
        return [problem('board', found, 'copse board restore # keeps the damaged file')];
      }
      const events = await context.board.lastEvent();
      const found = `${context.board.engine} at ${context.board.location}, ${counted(events, 'event')}`;
      const queues = await context.board.list('queue');
      return [
        fine('board', found),
        ...(await nodes(cli, context)),
        ...connection(await context.board.connection()),
        ...(await server(context.board)),
        ...queues.flatMap(queue),
        ...(await stopped(cli, context.board)),
        ...(await unopened(context.board)),
      ];
    } finally {
      await context.board.close();
    }
  } catch (error) {
    if (error instanceof Unavailable) return [problem('board', error.message, error.remedy)];
    throw error;
  }
}

function connection(facts: ConnectionFacts | null): readonly HealthCheck[] {
  if (facts === null) return [];
  const { version, latencyMs, tls, connections } = facts;
  const answers = `answers in ${latencyMs < 10 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms`;
  const used = `${connections.used} of ${connections.most} connections used`;
  return [fine('connection', [version, answers, tls ?? 'no TLS', used].join(', '))];
}

/** Said only when several machines share the board. */
async function nodes(cli: Cli, context: Context): Promise<readonly HealthCheck[]> {
  const { loadNodes } = await import('../../../machines/act/nodes.ts');
  const known = await loadNodes(context);
  if (known.length < 2) return [];
  const here = nodeHere(requireRepository(cli));
  const { silentMs: most } = context.policy.nodes;
  const names = known.map(({ node, silentMs }) => {
    const state = [
      ...(node.id === here ? ['this machine'] : []),
      ...(node.drain === null ? [] : ['drains']),
      ...(isHeard(silentMs, most) ? [] : [silenceText(silentMs)]),
      ...(Math.abs(node.clockOffsetMs ?? 0) < CLOCK_MS ? [] : [offsetText(node.clockOffsetMs ?? 0)]),
    ];
    return state.length === 0 ? node.name : `${node.name} (${state.join(', ')})`;
  });
  return [fine('nodes', names.join(', '))];
}

/** A clock that is further off makes times on the board hard to read. */
const CLOCK_MS = 5_000;

/** Whether a failover can lose what was confirmed. That it may is a choice, no fault. */
async function server(board: Board): Promise<readonly HealthCheck[]> {
  const facts = await board.server();
  if (facts === null) return [];
  const { isSynchronous, standbys, identity, term } = facts;
  const terms = term.term > 1 ? `; term ${term.term} since ${time(term.at)}` : '';
  if (isSynchronous)
    return [
      fine('server', `waits for a synchronous standby: a failover loses nothing that was confirmed${terms}`),
    ];
  const has = standbys === 0 ? 'no standby' : `${counted(standbys, 'standby')}, none synchronous`;
  const noticed = identity === null ? ', and Copse cannot notice it' : '; Copse then notices it';
  const found = `${has}: a failover or a restored backup may lose the last changes${noticed}${terms}`;
  return [missing('server', found, 'To wait for a standby, set synchronous_standby_names on the server.')];
}

async function stopped(cli: Cli, board: Board): Promise<readonly HealthCheck[]> {
  const { home } = requireRepository(cli);
  const found = stoppedAttempts(home).map(async ({ attempt, because }) => {
    const task = (await board.get('attempt', attempt))?.task ?? attempt;
    return problem('agents', `${task}: ${delayCauses[because]}`, 'To go on with it: copse orchestrate');
  });
  return Promise.all(found);
}

/** Finished tasks that could not be pushed, or whose pull request could not be opened. */
async function unopened(board: Board): Promise<readonly HealthCheck[]> {
  const tasks = await board.tasks({ statuses: ['in_review'], order: 'urgent' });
  return tasks.flatMap(({ id, state }) => {
    const pullRequest = state.status === 'in_review' ? state.pullRequest : null;
    const isUnopened = pullRequest?.is === 'wanted' || pullRequest?.is === 'given_up';
    if (!isUnopened || pullRequest.note === null) return [];
    return [problem('review', `${id}: ${pullRequest.note}`, `copse review ${id}`)];
  });
}

/** Agents that copse.yml names and that cannot run here are a fault; no agent at all is none, because people work by hand too. */
async function agents(cli: Cli, found: Repository): Promise<readonly HealthCheck[]> {
  const { agentsOf, lookForProgram } = await import('../../../compose/run/agents.ts');
  const { usable, unusable } = await agentsOf(await configOf(found), cli, found.configFolder);
  if (usable.length + unusable.length === 0) {
    const remedy = 'copse agents detect # to see how to install one';
    return [
      missing(
        'agents',
        'no agent is installed or configured: without one, you do the tasks yourself (copse work)',
        remedy,
      ),
    ];
  }
  const looks = usable.map((agent) => {
    const { runtime, command, sandbox } = agent;
    // An image has programs of its own, and so may a worktree after its set-up.
    const isElsewhere = runtime !== 'command' || sandbox === 'docker' || command === undefined;
    const look = isElsewhere ? null : lookForProgram(command, found.configFolder, cli.env);
    const isMade = look?.kind === 'not_found' && /^[^/].*\//.test(look.program) && hasSetup(agent);
    return { name: agent.name, look: isMade ? ({ kind: 'unknown' } as const) : look };
  });
  const names = (kinds: readonly (string | undefined)[]) =>
    looks.flatMap(({ name, look }) => (kinds.includes(look?.kind) ? [name] : [])).join(', ');
  const able = names([undefined, 'found']);
  const unchecked = names(['unknown']);
  return [
    ...(able === '' ? [] : [fine('agents', `${able} can run here`)]),
    ...(unchecked === ''
      ? []
      : [fine('agents', `${unchecked}: a shell runs the command; its program was not checked`)]),
    ...looks.flatMap(({ name, look }) =>
      look?.kind === 'not_found'
        ? [problem('agents', `agent ${name}: program ${shown(look.program)} not found`, AFTER_REPAIR)]
        : [],
    ),
    ...unusable.map(({ reason }) => unable('agents', reason)),
  ];
}

function hasSetup({ workspace }: EffectiveAgent): boolean {
  return (workspace.setup ?? []).length > 0;
}

/** Where a reason ends with a command that installs a program, that command is the remedy. */
function unable(name: string, reason: string): HealthCheck {
  const { found, install } = splitInstall(reason);
  const change = found.includes('Docker does not answer') ? WITHOUT_DOCKER : AFTER_REPAIR;
  return problem(name, found, install ?? change);
}

const AFTER_REPAIR = 'Change copse.yml, then run: copse config accept';
const WITHOUT_DOCKER =
  'Start Docker; or remove `sandbox: docker` from copse.yml, then run: copse config accept';

/** What a person's own act explains is no fault. */
function queue({ id, stalled }: MergeQueue): readonly HealthCheck[] {
  if (stalled === null || BY_PEOPLE.has(stalled.reason.kind)) return [];
  const found = `${id}: ${waitText(stalled.reason)}`;
  return [problem('queue', found, `Nothing lands on ${id} until this is fixed: copse queue`)];
}

const BY_PEOPLE: ReadonlySet<WaitReason['kind']> = new Set(['paused', 'not_accepted', 'checkout_changed']);

async function disk(cli: Cli): Promise<HealthCheck> {
  const { bavail, bsize } = await statfs(cli.cwd);
  const free = bavail * bsize;
  const wanted = defaultPolicy.orchestration.minFreeDiskBytes;
  const found = `${gigabytes(free)} free`;
  return free >= wanted
    ? fine('disk', found)
    : problem('disk', found, `Free disk space: agents start only with ${gigabytes(wanted)} or more.`);
}

/** A sandbox that is missing is no fault unless an agent asks for it; then that agent cannot run here. */
async function confinement(cli: Cli): Promise<readonly HealthCheck[]> {
  const { confinementHere } = await import('../../../compose/run/confinement.ts');
  const here = confinementHere(cli);
  const asked = await sandboxesAskedFor(cli);
  const can = (name: string, sandbox: Sandboxed, why: string | null) => {
    if (why === null) return fine(name, `agents can use "sandbox: ${sandbox}"`);
    const found = `agents cannot use "sandbox: ${sandbox}": ${why}`;
    if (asked.has(sandbox)) return unable(name, found);
    const split = splitInstall(found);
    return missing(name, split.found, split.install);
  };
  return [can('sandbox', 'runtime', here.runtime), can('docker', 'docker', here.docker), processes(here)];
}

type Sandboxed = EffectiveAgent['sandbox'];

/** By the agents in copse.yml and by its checks. */
async function sandboxesAskedFor(cli: Cli): Promise<ReadonlySet<Sandboxed>> {
  const { effectiveAgent } = await import('../../../config/effective.ts');
  try {
    const found = findRepository(cli.cwd);
    if (found === undefined) return new Set();
    const config = await configOf(found);
    const agents = Object.keys(config.agents).flatMap((name) => effectiveAgent(config, name)?.sandbox ?? []);
    return new Set([...agents, config.landing.sandbox ?? 'none']);
  } catch (error) {
    // Said of the repository or of its settings.
    if (error instanceof Unavailable) return new Set();
    throw error;
  }
}

function processes(here: Confinement): HealthCheck {
  const isComplete = here.hasGroups && here.reaper !== null;
  if (isComplete) return fine('processes', processesFound(here));
  const remedy = here.reaper === null ? 'Install perl or python3, for the reaper.' : null;
  return missing('processes', processesFound(here), remedy);
}

/** How the processes of agents without a sandbox are found when they hide. */
function processesFound({ hasGroups, reaper }: Confinement): string {
  if (hasGroups && reaper !== null)
    return `Copse finds and ends all processes of an agent (with control groups and ${reaper})`;
  if (hasGroups)
    return 'a process that moves to another control group can outlive its agent, because there is no reaper';
  if (reaper !== null)
    return `a process that kills the reaper (${reaper}) can outlive its agent: this machine has no control groups for Copse`;
  return 'a process that clears its environment and leaves its parent can outlive its agent, because there is no reaper';
}

function gigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GB`;
}

function fine(name: string, found: string): HealthCheck {
  return { name, state: 'fine', found, remedy: null };
}

function problem(name: string, found: string, remedy: string): HealthCheck {
  return { name, state: 'problem', found, remedy };
}

function missing(name: string, found: string, remedy: string | null): HealthCheck {
  return { name, state: 'missing', found, remedy };
}
