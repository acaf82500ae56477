import { isOrchestrated, withLook } from '../../../compose/look.ts';
import { hasBoard } from '../../../compose/open.ts';
import { taskFrom } from '../../../board/rules/author.ts';
import { loadOverview } from '../../../explain/overview.ts';
import { type Why, whyTask } from '../../../explain/why.ts';
import { shown } from '../../../kernel/text.ts';
import { overviewView } from '../../../operations/views/overview-views.ts';
import type { LookContext } from '../../../queue/context.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { panelLines } from '../../screen/panels.ts';
import { cut } from '../../screen/screen.ts';
import { taskLine } from '../../screen/render.ts';
import { taskOfFolder } from '../workspaces/task-of-folder.ts';
import { explainNoBoard } from '../setup/alone.ts';
import { stepLines } from '../../after/step-lines.ts';

export async function run({ cli, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  if (!options.json && !(await hasBoard(cli))) return explainNoBoard(cli);
  await withLook(cli, async (context) => {
    const overview = await loadOverview(context, {
      isOrchestrated: await isOrchestrated(cli),
      // More would not fit on the screen.
      ...(cli.output.isTerminal && !options.json && { readyLimit: cli.output.rows() }),
    });
    const here = await whyHere(cli, context);
    if (options.json) return cli.output.json(overviewView(overview, here));
    const { output } = cli;
    const own = here === undefined ? [] : linesHere(cli, here, context);
    for (const line of own) output.line(line);
    for (const line of panelLines(overview, sizeBelow(cli, own.length), output.style)) output.line(line);
  });
}

/** The task of the worktree around the folder, or of the agent's session that asks. */
async function whyHere(cli: Cli, context: LookContext): Promise<Why | undefined> {
  const id =
    (await taskOfFolder(context.board, cli)) ??
    (context.by.kind === 'session' ? taskFrom(cli.env) : undefined);
  const why =
    id === undefined ? undefined : await whyTask(context, id, { isOrchestrated: await isOrchestrated(cli) });
  return why?.kind === 'done' ? why.value : undefined;
}

/** Its status, why in a sentence, and the next command. */
function linesHere({ output }: Cli, { task, because, next }: Why, { clock }: LookContext): readonly string[] {
  const [line = ''] = taskLine(task, output, clock.now()).split('\n', 1);
  const [first] = because;
  const [command] = next;
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
