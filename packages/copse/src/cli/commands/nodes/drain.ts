import type { Context } from '../../../board/context.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { spanText } from '../../../kernel/time.ts';
import { type KnownNode, drainNode, loadNodes } from '../../../machines/act/nodes.ts';
import { isHeard, silenceText } from '../../../machines/rules/node.ts';
import { nodeTakesNow } from '../../../machines/rules/offer.ts';
import { nodeView } from '../../../operations/views/node-views.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';
import { requireNode } from '../../../operations/find-node.ts';
import { requireWithin } from './node-options.ts';

interface Options {
  readonly within?: string;
  readonly preview?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const asked = options.within === undefined ? undefined : requireWithin(options.within);
  await withBoard(cli, async (context) => {
    const known = await requireNode(context, words[0] ?? '');
    const { node, silentMs, held } = known;
    if (options.preview) return preview(cli, context, known, options);
    const withinMs = asked ?? context.policy.nodes.drainMs;
    const drained = orFail(await drainNode(context, node.id, { withinMs, by: 'person' }));
    if (options.json) return cli.output.json(nodeView({ ...known, node: drained }));
    const { output } = cli;
    const agents = held.filter((task) => !isByHand(task)).length;
    const rest =
      agents === 0
        ? 'No agent runs there.'
        : `${counted(agents, 'agent')} may go on for ${spanText(withinMs)}; then the work is handed over.`;
    output.line(`Node ${shown(node.name)} drains: it takes no new work. ${rest}`);
    if (agents > 0 && !isHeard(silentMs, context.policy.nodes.silentMs))
      output.line(`  It was ${silenceText(silentMs)}: its orchestrator drains it when it is back.`);
    output.line(output.style('dim', `  → copse node resume ${node.name}`));
  });
}

/** What would move, and where it can go on. */
async function preview(
  cli: Cli,
  context: Context,
  { node, held }: KnownNode,
  { json }: Options,
): Promise<void> {
  const others = (await loadNodes(context)).filter((one) => one.node.id !== node.id);
  const tasks = held.map((task) => ({
    task,
    isByHand: isByHand(task),
    to: others.flatMap((one) => {
      const able = nodeTakesNow(task, one.node, one.silentMs, context.policy.nodes);
      return able.kind === 'can' ? [one.node.name] : [];
    }),
  }));
  if (json)
    return cli.output.json({
      tasks: tasks.map(({ task: { id, title }, isByHand: stays, to }) => ({ id, title, moves: !stays, to })),
    });
  if (tasks.length === 0) cli.output.line(`Nothing would move: node ${shown(node.name)} has no work.`);
  for (const { task, isByHand: stays, to } of tasks) {
    cli.output.line(`${task.id} (${age(task.state.since, context.clock.now())}) ${shown(task.title)}`);
    const where = stays
      ? 'stays: a person works on it by hand'
      : to.length === 0
        ? 'would wait: no other node can take it now (copse why says why)'
        : `could go on on ${to.map((name) => shown(name)).join(', ')}`;
    cli.output.line(`    ${where}`);
  }
}

function isByHand({ state }: TaskSummary): boolean {
  return state.status === 'in_progress' && state.claim.isByHand === true;
}
