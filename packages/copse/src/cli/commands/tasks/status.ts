import { withAccess } from '../../../compose/operations/access.ts';
import { hasBoard } from '../../../compose/open.ts';
import type { Why } from '../../../explain/why.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/overview/status.ts';
import { stepLines } from '../../../kernel/shell.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { isFinished } from '../../../tasks/rules/task.ts';
import { panelLines } from '../../screen/panels.ts';
import { taskLine } from '../../screen/render.ts';
import { cut } from '../../screen/screen.ts';
import { explainNoBoard } from '../setup/alone.ts';

export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  const { output } = cli;
  if (!options.json && !(await hasBoard(cli))) return explainNoBoard(cli);
  await withAccess(cli, async (access) => {
    // More would not fit on the screen.
    const status = await act(access, output.isTerminal && !options.json ? { readyLimit: output.rows() } : {});
    if (options.json) return output.json(view(status));
    const { overview, here } = status;
    const own = here === undefined ? [] : linesHere(cli, here, overview.at);
    for (const line of own) output.line(line);
    for (const line of panelLines(overview, sizeBelow(cli, own.length), output.style)) output.line(line);
  });
}

/** Its status, why in a sentence, and the next command. */
function linesHere({ output }: Cli, { task, because, next }: Why, now: Timestamp): readonly string[] {
  const [line = ''] = taskLine(task, output, now).split('\n', 1);
  const first = because[0]?.replace(/:$/, '.');
  // A task that is over needs no command.
  const command = isFinished(task.state.status) ? undefined : next[0];
  const lines = [
    line,
    ...(first === undefined ? [] : [`    ${shown(first).replaceAll('\n', '\n    ')}`]),
    ...(command === undefined ? [] : stepLines(command).map((step) => output.style('dim', step))),
    '',
  ].flatMap((text) => text.split('\n'));
  return output.isTerminal ? lines.map((text) => cut(text, output.columns())) : lines;
}

/** A file or a pipe gets everything; a terminal one screen, with a line for the prompt. */
function sizeBelow({ output }: Cli, used: number): { readonly columns: number; readonly rows: number } {
  if (!output.isTerminal) return { columns: Infinity, rows: Infinity };
  return { columns: output.columns(), rows: output.rows() - 1 - used };
}
