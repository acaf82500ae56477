import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/tasks/edit.ts';
import { printAhead } from '../../after/ahead.ts';
import { agentAtWork, printUntold } from '../../after/edited.ts';
import type { Invocation } from '../../invocation.ts';
import { type BodyOptions, readBody } from '../../read-text.ts';
import { taskLine } from '../../screen/render.ts';
import { type DefinitionOptions, noteUnknownAgent, readDefinitionOptions } from './definition-options.ts';

interface Options extends DefinitionOptions, BodyOptions {
  readonly title?: string;
  readonly depends?: readonly string[];
  readonly notDepends?: readonly string[];
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const body = await readBody(cli, options);
  await withAccess(cli, async (access) => {
    await noteUnknownAgent(cli, access, options);
    const { title, depends: addDependencies, notDepends: removeDependencies } = options;
    const definition = { ...readDefinitionOptions(options), title, body };
    const [task = ''] = words;
    const edited = await act(access, { ...definition, task, addDependencies, removeDependencies });
    if (options.json) return cli.output.json(view(edited));
    await access.board(async (context) => {
      cli.output.line(`Changed ${taskLine(edited, cli.output, context.clock.now())}`);
      await printAhead(cli, context, edited);
    });
    const isTextNew = title !== undefined || body !== undefined;
    if (!isTextNew || agentAtWork(edited) === undefined) return;
    await access.look((context) => printUntold(cli, context, edited));
  });
}
