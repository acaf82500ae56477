import { isPerson } from '../../../board/rules/author.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { serve } from '../../mcp/server.ts';
import { toolsFor } from '../../mcp/tools.ts';

const INSTRUCTIONS =
  'Copse gave you one task and a worktree for it. Commit your work there, then call finish; its answer names anything that is missing. If only a person can decide something, call stuck. Note what the next agent should know with ledger_add. All tools are about your own task.';

interface Options {
  readonly as?: string;
}

export async function run({ cli, program, options }: Invocation<Options>): Promise<void> {
  if (options.as !== undefined) requirePerson(cli, options.as);
  if (cli.stdin().isTTY) {
    cli.output.note('This is an MCP server for the program that starts it. Ctrl+D ends it.');
  }
  if (options.as !== undefined) {
    const { serveAsPerson } = await import('../../mcp/as-person.ts');
    await serveAsPerson(cli);
    return;
  }
  await serve({
    input: cli.stdin(),
    write: (line) => cli.output.raw(line),
    version: cli.version,
    instructions: INSTRUCTIONS,
    tools: toolsFor({ cli, program }),
  });
}

/** An agent has its own tools. It must not get those of the person whose computer it runs on. */
function requirePerson({ env }: Cli, who: string): void {
  if (who !== 'person') fail('usage', `--as must be person, not ${JSON.stringify(who)}.`, 'copse mcp --help');
  if (isPerson(env)) return;
  fail(
    'not_this_session',
    'copse mcp --as person is for people: an agent may only read, add tasks and report about its own task.',
    'copse mcp # the tools of an agent',
  );
}
