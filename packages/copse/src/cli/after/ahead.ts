/** The last lines of a command that changed a task: what happens to it now, and what to type next. */

import { sessionFrom } from '../../board/rules/author.ts';
import { configOf, nodeHere, requireRepository } from '../../compose/open.ts';
import { type Ahead, type AheadFacts, aheadOf } from '../../explain/rules/ahead.ts';
import { describeUntaken, heldHere, lackOfAgents } from '../../explain/rules/waiting.ts';
import type { Config } from '../../config/schema.ts';
import type { NodeFacts } from '../../machines/rules/node.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { Cli } from '../invocation.ts';
import { printProse } from '../screen/screen.ts';
import { printSteps } from './next-steps.ts';
import { withBoard } from '../with-board.ts';

/** Agents are told nothing: most of these commands are for people only. */
export async function printAhead(
  cli: Cli,
  { policy }: { readonly policy: Policy },
  task: TaskSummary,
): Promise<void> {
  if (sessionFrom(cli.env) !== undefined) return;
  const { text, commands } = await loadAhead(cli, policy, task);
  if (text !== null) printProse(cli.output, cli.output.style('dim', `    ${text}`), 4);
  printSteps(cli.output, commands);
}

async function loadAhead(cli: Cli, policy: Policy, task: TaskSummary): Promise<Ahead> {
  const { agentsOf } = await import('../../compose/run/agents.ts');
  const repository = requireRepository(cli);
  const config = await configOf(repository);
  const { usable, unusable, pendingAgents } = await agentsOf(config, cli, repository.configFolder);
  const isHere = await isOrchestrated(cli);
  // Such as that of its --command.
  const started =
    isHere && usable.length === 0 && task.state.status === 'ready' ? await startedHere(cli) : [];
  const agents = [...usable, ...started];
  return aheadOf(task, {
    isOrchestrated: isHere,
    elsewhere: isHere ? [] : await elsewhereFor(cli, task),
    pollIntervalMs: policy.orchestration.pollIntervalMs,
    noAgents: lackOfAgents({ agents, unusable, pendingAgents }),
    waits: await waitFor(cli, task, config.landing),
    held: await heldFor(cli, task, usable),
    ...(await startFor(cli, task)),
    untaken: (await isTakenByNode(cli, task)) ? null : describeUntaken(task, agents, unusable),
  });
}

async function waitFor(
  cli: Cli,
  { id, state }: TaskSummary,
  settings: Config['landing'],
): Promise<AheadFacts['waits']> {
  if (state.status !== 'landing') return undefined;
  const { loadWait } = await import('../../explain/wait.ts');
  return withBoard(cli, async (context) => {
    const landing = await context.board.get('landing', state.landing);
    const wait = landing && (await loadWait(context, settings, landing));
    if (!wait) return undefined;
    return { text: wait.text, commands: wait.steps.length > 0 ? wait.steps : [`copse why ${id}`] };
  });
}

/** What a person needs who does it alone. */
async function startFor(
  cli: Cli,
  task: TaskSummary,
): Promise<Pick<AheadFacts, 'hasWorktree' | 'lacksCommit'>> {
  if (task.state.status !== 'ready') return {};
  const { hasWorktree } = await import('../../queue/act/continue-steps.ts');
  const { hasBase } = await import('../../compose/on-demand.ts');
  const node = nodeHere(requireRepository(cli));
  return {
    hasWorktree: await withBoard(cli, ({ board }) => hasWorktree({ board, node }, task)),
    lacksCommit: task.repository === undefined && !(await hasBase(cli)),
  };
}

async function heldFor(
  cli: Cli,
  task: TaskSummary,
  agents: Parameters<typeof heldHere>[2],
): Promise<AheadFacts['held']> {
  if (task.state.status !== 'ready') return null;
  const here = nodeHere(requireRepository(cli));
  return withBoard(cli, async ({ board }) => heldHere(task, await board.get('node', here), agents));
}

/** The agents that the orchestrator of this machine was started with. */
async function startedHere(cli: Cli): Promise<NodeFacts['capabilities']['agents']> {
  const here = nodeHere(requireRepository(cli));
  return withBoard(
    cli,
    async ({ board }) => (await board.get('node', here))?.facts?.capabilities.agents ?? [],
  );
}

/** Other nodes that can start it now, or that lead queues. */
async function elsewhereFor(cli: Cli, task: TaskSummary): Promise<readonly string[]> {
  if (task.state.status !== 'ready' && task.state.status !== 'landing') return [];
  const { loadOtherNodes } = await import('../../machines/act/nodes.ts');
  const { nodeCanTake } = await import('../../machines/rules/offer.ts');
  const here = nodeHere(requireRepository(cli));
  return withBoard(cli, async ({ board, policy }) => {
    const others = await loadOtherNodes(board, here, policy.nodes);
    const isReady = task.state.status === 'ready';
    return others
      .filter((node) => !isReady || nodeCanTake(task, node).kind === 'can')
      .map(({ name }) => name);
  });
}

/** A node may meet what no agent does: one with a label, for example. */
async function isTakenByNode(cli: Cli, task: TaskSummary): Promise<boolean> {
  if (task.requires.length === 0) return false;
  const { nodeCanTake } = await import('../../machines/rules/offer.ts');
  return withBoard(cli, async ({ board }) =>
    (await board.list('node')).some((node) => nodeCanTake(task, node).kind === 'can'),
  );
}

/** Whether an orchestrator of this clone runs on this machine. */
export async function isOrchestrated(cli: Cli): Promise<boolean> {
  const { isOrchestratedAt } = await import('../../compose/board/who-runs.ts');
  return isOrchestratedAt(requireRepository(cli).home);
}
