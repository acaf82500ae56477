import { detectAgents } from '../../../compose/run/agents.ts';
import { findRepository } from '../../../compose/open.ts';
import { shown } from '../../../kernel/text.ts';
import type { Invocation } from '../../invocation.ts';

/** Which agent programs are installed, in which version, and whether they start. */
export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  const { output } = cli;
  const found = await detectAgents(cli, findRepository(cli.cwd)?.top ?? cli.cwd);
  if (options.json) {
    output.json({ runtimes: found });
    return;
  }
  for (const { runtime, place, version, problem, install } of found) {
    const name = runtime.padEnd(10);
    if (place === null) {
      output.line(`${output.style('dim', '–')} ${name} not installed: ${install}`);
      continue;
    }
    const mark = problem === null ? output.style('green', '✓') : output.style('red', '✗');
    output.line(`${mark} ${name} ${shown(problem ?? version ?? 'version unknown')}`);
    output.line(output.style('dim', `             ${shown(place)}`));
  }
  const first = found.find(({ place, problem }) => place !== null && problem === null);
  output.line();
  output.line(
    first === undefined
      ? 'Any other program works too: copse orchestrate --command "./my-agent.sh"'
      : `Without agents in copse.yml, ${first.runtime} is used. To choose: copse init`,
  );
}
