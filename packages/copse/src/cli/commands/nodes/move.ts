import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/tasks/move.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly to?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const moved = await act(access, { task: words[0] ?? '', to: options.to ?? '' });
    if (options.json) return cli.output.json(view(moved));
    const { task, node } = moved;
    const rest =
      task.state.status === 'in_progress' ? ' Its agent is stopped and its work is saved first.' : '';
    cli.output.line(`Node ${shown(node.name)} takes ${task.id} next.${rest}`);
    cli.output.line(cli.output.style('dim', `  → copse why ${task.id}`));
  });
}
