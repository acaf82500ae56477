import type { Context } from '../../../board/context.ts';
import { spanText } from '../../../kernel/time.ts';
import { counted, named, shown } from '../../../kernel/text.ts';
import { type KnownNode, loadNodes } from '../../../machines/act/nodes.ts';
import { isHeard, silenceText } from '../../../machines/rules/node.ts';
import { nodeView } from '../../../operations/views/node-views.ts';
import { nodeHere, requireRepository } from '../../../compose/open.ts';
import type { Invocation } from '../../invocation.ts';
import { isOrchestrated } from '../../after/ahead.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withBoard(cli, async (context) => {
    const nodes = await loadNodes(context, { withLeft: options.all ?? false });
    if (options.json) return cli.output.json({ nodes: nodes.map(nodeView) });
    if (nodes.length === 0) {
      const hasLeft = !options.all && (await loadNodes(context, { withLeft: true })).length > 0;
      cli.output.line(hasLeft ? 'All nodes left: copse node list --all' : 'No node has joined this board.');
      cli.output.line('  → copse up');
      return;
    }
    const here = nodeHere(requireRepository(cli));
    const isRunningHere = await isOrchestrated(cli);
    const width = Math.max(...nodes.map(({ node }) => node.name.length));
    for (const one of nodes) {
      const { node, held, silentMs } = one;
      const slots = node.facts === null ? '' : `/${node.facts.slots}`;
      const agents = `${held.length}${slots} busy`;
      const mark = node.id === here ? ' (this machine)' : '';
      // The state of a node that left or is silent says when that began.
      const isQuiet = node.leftAt !== null || !isHeard(silentMs, context.policy.nodes.silentMs);
      const style = isHeard(silentMs, context.policy.nodes.silentMs) ? 'green' : 'yellow';
      const isIdle = node.id === here && !isRunningHere;
      const state = cli.output.style(isIdle ? 'yellow' : style, stateText(one, context, isIdle));
      const heard = isQuiet || silentMs === null ? '' : `, heard from ${spanText(silentMs)} ago`;
      cli.output.line(`${shown(node.name).padEnd(width)}  ${agents.padEnd(10)}  ${state}${heard}${mark}`);
      const tasks = held.map(({ id }) => id);
      if (tasks.length > 0) cli.output.line(cli.output.style('dim', `    runs ${named(tasks)}`));
    }
    const left = options.all ? 0 : (await loadNodes(context, { withLeft: true })).length - nodes.length;
    if (left > 0)
      cli.output.line(cli.output.style('dim', `${counted(left, 'node')} left: copse node list --all`));
  });
}

/** Whether it runs, drains, is silent or left. `isIdle`: it is this machine, and no orchestrator runs here. */
export function stateText(
  { node, silentMs, held }: KnownNode,
  { clock, policy }: Context,
  isIdle: boolean,
): string {
  if (node.leftAt !== null) return `left ${spanText(Math.max(1_000, clock.now() - node.leftAt))} ago`;
  const silence = isHeard(silentMs, policy.nodes.silentMs) ? null : silenceText(silentMs);
  if (node.drain === null) return silence ?? (isIdle ? 'no orchestrator runs' : 'takes work');
  const drains =
    held.length === 0
      ? 'drained'
      : `drains, at most ${spanText(Math.max(0, node.drain.since + node.drain.withinMs - clock.now()))} more`;
  return silence === null ? drains : `${drains}; ${silence}`;
}
