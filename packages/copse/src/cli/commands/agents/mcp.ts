import type { Invocation } from '../../invocation.ts';
import { serve } from '../../mcp/server.ts';
import { toolsFor } from '../../mcp/tools.ts';

const INSTRUCTIONS =
  'Copse gave you one task and a worktree for it. Commit your work there, then call finish; its answer names anything that is missing. If only a person can decide something, call stuck. Note what the next agent should know with ledger_add. All tools are about your own task.';

export async function run({ cli, program }: Invocation): Promise<void> {
  if (cli.stdin().isTTY) {
    cli.output.note('This is an MCP server for the agent program that starts it. Ctrl+D ends it.');
  }
  await serve({
    input: cli.stdin(),
    write: (line) => cli.output.raw(line),
    version: cli.version,
    instructions: INSTRUCTIONS,
    tools: toolsFor({ cli, program }),
  });
}
