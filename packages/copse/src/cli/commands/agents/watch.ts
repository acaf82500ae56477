import type { Invocation } from '../../invocation.ts';
import { savedTerminal } from '../../watch/guard.ts';
import { Watch } from '../../watch/watch.ts';

/** Without a terminal, the same once, as `copse status` prints it. */
export async function run({ cli, program, options }: Invocation): Promise<void> {
  const { output } = cli;
  const isScreen = output.isTerminal && cli.stdin().isTTY === true && cli.env['TERM'] !== 'dumb';
  if (!isScreen) {
    const why = cli.env['TERM'] === 'dumb' ? 'TERM is dumb' : 'input or output is no terminal';
    output.note(`copse watch needs a terminal that it can draw on, and ${why}. This is copse status:`);
    const { run: status } = await import('../tasks/status.ts');
    return status({ cli, program, words: [], options });
  }
  await new Watch(cli, savedTerminal()).run();
}
