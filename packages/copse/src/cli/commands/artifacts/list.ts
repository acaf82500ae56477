import { withAccess } from '../../../compose/operations/access.ts';
import { age } from '../../../explain/rules/amounts.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { fail } from '../../../operations/failure.ts';
import { act, view } from '../../../operations/plans/artifact-list.ts';
import type { Artifact } from '../../../tasks/rules/ledger.ts';
import type { Invocation } from '../../invocation.ts';
import { artifactText } from './artifact-text.ts';

interface Options {
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word] = words;
  if (word !== undefined && options.all)
    fail('usage', 'Give a task or --all, not both.', `copse artifact list ${word}`);
  await withAccess(cli, async (access) => {
    const listed = await act(access, { task: word, all: options.all });
    if (options.json) return cli.output.json(view(listed));
    const { task, artifacts, at } = listed;
    if (artifacts.length === 0)
      cli.output.line(`${task ?? 'The board'} has no artifacts. To add one: copse artifact add --help`);
    for (const one of artifacts) cli.output.line(lineOf(one, task, age(one.at, at)));
  });
}

function lineOf(artifact: Artifact, task: TaskId | undefined, since: string): string {
  const of = task === undefined ? ` ${artifact.task}` : '';
  return `${artifact.id}${of} (${since}) ${artifactText(artifact)}`;
}
