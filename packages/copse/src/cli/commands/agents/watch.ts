import type { Invocation } from '../../invocation.ts';
import { savedTerminal } from '../../watch/guard.ts';
import { Watch } from '../../watch/watch.ts';

/** Without a terminal, the same once, as `copse status` prints it. */
export async function run({ cli, program, options }: Invocation): Promise<void> {
  const { output } = cli;
  const isScreen = output.isTerminal && cli.stdin().isTTY === true && cli.env['TERM'] !== 'dumb';
  if (!isScreen) {
    const why = cli.env['TERM'] === 'dumb' ? 'cannot draw with TERM=dumb' : 'needs a terminal';
    output.note(`copse watch ${why}; showing copse status instead.`);
    const { run: status } = await import('../tasks/status.ts');
    return status({ cli, program, words: [], options });
  }
  await new Watch(cli, savedTerminal()).run();
}
