import type { Artifact } from '../../../tasks/rules/ledger.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { taskFrom } from '../../../board/rules/author.ts';
import type { Board } from '../../../board/port.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { artifactView } from '../../../operations/views/views.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { requireTaskId, withBoard } from '../../with-board.ts';
import { taskOfFolder } from '../workspaces/task-of-folder.ts';
import { artifactText } from './artifact-text.ts';

interface Options {
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word] = words;
  if (word !== undefined && options.all)
    fail('usage', 'Give a task or --all, not both.', `copse artifact list ${word}`);
  await withBoard(cli, async ({ board, clock }) => {
    const task = options.all ? undefined : await taskMeant(board, cli, word);
    const artifacts = await (task === undefined ? board.list('artifact') : board.list('artifact', { task }));
    if (options.json) return cli.output.json({ artifacts: artifacts.map(artifactView) });
    if (artifacts.length === 0)
      cli.output.line(`${task ?? 'The board'} has no artifacts. To add one: copse artifact add --help`);
    for (const one of artifacts) cli.output.line(lineOf(one, task, age(one.at, clock.now())));
  });
}

async function taskMeant(board: Board, cli: Cli, word: string | undefined): Promise<TaskId | undefined> {
  if (word !== undefined) return requireTaskId(board, word);
  return taskFrom(cli.env) ?? (await taskOfFolder(board, cli));
}

function lineOf(artifact: Artifact, task: TaskId | undefined, since: string): string {
  const of = task === undefined ? ` ${artifact.task}` : '';
  return `${artifact.id}${of} (${since}) ${artifactText(artifact)}`;
}
