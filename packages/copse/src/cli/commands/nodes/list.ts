import { withAccess } from '../../../compose/operations/access.ts';
import { spanText } from '../../../kernel/time.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import { counted, named, shown } from '../../../kernel/text.ts';
import type { KnownNode } from '../../../machines/act/nodes.ts';
import { isHeard, silenceText } from '../../../machines/rules/node.ts';
import type { Access } from '../../../operations/access.ts';
import { act, view } from '../../../operations/nodes/list.ts';
import type { Cli, Invocation } from '../../invocation.ts';

interface Options {
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const listed = await act(access, options);
    if (options.json) return cli.output.json(view(listed));
    const { nodes } = listed;
    const left = options.all ? 0 : (await act(access, { all: true })).nodes.length - nodes.length;
    if (nodes.length === 0) {
      cli.output.line(left > 0 ? 'All nodes left: copse node list --all' : 'No node has joined this board.');
      cli.output.line('  → copse up');
      return;
    }
    await print(cli, access, listed);
    if (left > 0)
      cli.output.line(cli.output.style('dim', `${counted(left, 'node')} left: copse node list --all`));
  });
}

async function print(
  { output }: Cli,
  access: Access,
  { nodes, at }: Awaited<ReturnType<typeof act>>,
): Promise<void> {
  const here = access.here.node();
  const isRunningHere = await access.here.isOrchestrated();
  const policy = await access.board(async (context) => context.policy.nodes);
  const width = Math.max(...nodes.map(({ node }) => node.name.length));
  for (const one of nodes) {
    const { node, held, silentMs } = one;
    const slots = node.facts === null ? '' : `/${node.facts.slots}`;
    const agents = `${held.length}${slots} busy`;
    const mark = node.id === here ? ' (this machine)' : '';
    const isLively = isHeard(silentMs, policy.silentMs);
    // The state of a node that left or is silent says when that began.
    const isQuiet = node.leftAt !== null || !isLively;
    const isIdle = node.id === here && !isRunningHere;
    const style = isLively && !isIdle ? 'green' : 'yellow';
    const state = output.style(style, stateText(one, { at, policy, isIdle }));
    const heard = isQuiet || silentMs === null ? '' : `, heard from ${spanText(silentMs)} ago`;
    output.line(`${shown(node.name).padEnd(width)}  ${agents.padEnd(10)}  ${state}${heard}${mark}`);
    const tasks = held.map(({ id }) => id);
    if (tasks.length > 0) output.line(output.style('dim', `    runs ${named(tasks)}`));
  }
}

interface StateLook {
  readonly at: Timestamp;
  readonly policy: Pick<Policy['nodes'], 'silentMs'>;
  /** It is this machine, and no orchestrator runs here. */
  readonly isIdle: boolean;
}

/** Whether it runs, drains, is silent or left. */
export function stateText({ node, silentMs, held }: KnownNode, { at, policy, isIdle }: StateLook): string {
  if (node.leftAt !== null) return `left ${spanText(Math.max(1_000, at - node.leftAt))} ago`;
  const silence = isHeard(silentMs, policy.silentMs) ? null : silenceText(silentMs);
  if (node.drain === null) return silence ?? (isIdle ? 'no orchestrator runs' : 'takes work');
  const drain =
    held.length === 0
      ? 'drained'
      : `draining, at most ${spanText(Math.max(0, node.drain.since + node.drain.withinMs - at))} left`;
  return silence === null ? drain : `${drain}; ${silence}`;
}
