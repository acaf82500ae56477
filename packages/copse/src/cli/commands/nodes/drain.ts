import { withAccess } from '../../../compose/operations/access.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { spanText } from '../../../kernel/time.ts';
import { silenceText } from '../../../machines/rules/node.ts';
import type { Access } from '../../../operations/access.ts';
import { act, view } from '../../../operations/nodes/drain.ts';
import * as preview from '../../../operations/nodes/drain-preview.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { requireWithin } from './node-options.ts';

interface Options {
  readonly within?: string;
  readonly preview?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const withinMs = options.within === undefined ? undefined : requireWithin(options.within);
  const [node = ''] = words;
  await withAccess(cli, async (access) => {
    if (options.preview) return show(cli, access, node, options);
    const drained = await act(access, { node, withinMs });
    if (options.json) return cli.output.json(view(drained));
    const { output } = cli;
    const { agents, silentMs } = drained;
    const rest =
      agents === 0
        ? 'No agent runs there.'
        : `${counted(agents, 'agent')} may go on for ${spanText(drained.withinMs)}; then they are stopped, and their tasks are ready for other nodes.`;
    output.line(`Node ${shown(drained.node.name)} is draining: it takes no new work. ${rest}`);
    if (agents > 0 && !drained.isHeard)
      output.line(`  It was ${silenceText(silentMs)}: its orchestrator drains it when it is back.`);
    output.line(
      output.style('dim', `    To let it take work again:\n  → copse node resume ${drained.node.name}`),
    );
  });
}

/** What would move, and where it can go on. */
async function show({ output }: Cli, access: Access, name: string, { json }: Options): Promise<void> {
  const previewed = await preview.act(access, { node: name });
  if (json) return output.json(preview.view(previewed));
  const { node, tasks, at } = previewed;
  if (tasks.length === 0) output.line(`Nothing would move: node ${shown(node.name)} has no work.`);
  for (const { task, isStaying, to } of tasks) {
    output.line(`${task.id} (${age(task.state.since, at)}) ${shown(task.title)}`);
    const where = isStaying
      ? 'stays: a person works on it by hand'
      : to.length === 0
        ? 'would wait: no other node can take it now (copse why says why)'
        : `could go on on ${to.map((other) => shown(other)).join(', ')}`;
    output.line(`    ${where}`);
  }
}
