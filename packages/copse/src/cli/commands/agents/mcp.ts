import type { Invocation } from '../../invocation.ts';
import { serve } from '../../mcp/server.ts';
import { toolsFor } from '../../mcp/tools.ts';

const INSTRUCTIONS =
  'Copse gave you one task in a worktree of its own. Commit your work there, then call finish; it says what is missing. If only a person can decide something, call stuck. Note what others should know with ledger_add. All of it is about your own task.';

export async function run({ cli, program }: Invocation): Promise<void> {
  if (cli.stdin().isTTY) {
    cli.output.note(
      'This speaks the Model Context Protocol with the agent program that starts it. Ctrl+D ends it.',
    );
  }
  await serve({
    input: cli.stdin(),
    write: (line) => cli.output.raw(line),
    version: cli.version,
    instructions: INSTRUCTIONS,
    tools: toolsFor({ cli, program }),
  });
}
