import { handOver } from '../../../agents/act/recover.ts';
import { isOrchestrated } from '../../../compose/look.ts';
import { shown } from '../../../kernel/text.ts';
import { moveTask } from '../../../machines/act/nodes.ts';
import { taskView } from '../../../operations/views/views.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { withRunOf } from '../../with-run.ts';
import { requireNode } from './node-options.ts';

interface Options {
  readonly to?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRunOf(cli, words, async (context, id) => {
    const { node } = await requireNode(context, options.to ?? '');
    const { state } = orFail(await moveTask(context, id, node.id));
    const claim = state.status === 'in_progress' ? state.claim : null;
    const isHere = claim?.node === context.node;
    // An orchestrator of this node does it at its next look.
    if (claim !== null && isHere && !(await isOrchestrated(cli))) {
      const { attempt, token } = claim;
      const why = { because: 'moved', reason: `it was moved to node ${node.name}` } as const;
      orFail(await handOver(context, { task: id, attempt, token }, why));
    }
    const task =
      (await context.board.get('task', id)) ??
      fail('not_found', `The board has no task ${id}.`, 'copse list');
    if (options.json) return cli.output.json(taskView(task));
    const rest =
      task.state.status === 'in_progress' ? ' Its agent is stopped and its work is saved first.' : '';
    cli.output.line(`Node ${shown(node.name)} takes ${id} next.${rest}`);
    cli.output.line(cli.output.style('dim', `  → copse why ${id}`));
  });
}
