import { noQuestion } from '../../../agents/act/answer.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { answerCommands, questionText } from '../../../explain/question.ts';
import { oneLine } from '../../../explain/rules/reason.ts';
import { shown } from '../../../kernel/text.ts';
import type { Access } from '../../../operations/access.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import * as answer from '../../../operations/tasks/answer.ts';
import * as question from '../../../operations/tasks/question.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { indented } from '../../screen/render.ts';

interface Options {
  readonly message?: string;
  readonly question?: string;
  readonly json?: boolean;
}

/** Answers with `allow` or `deny`; without them, shows the question. */
export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { output } = cli;
  const [task = '', verdict] = words;
  const isAllowed = verdict === undefined ? undefined : requireVerdict(verdict);
  await withAccess(cli, async (access) => {
    if (isAllowed === undefined) return show(cli, access, task, options);
    const { message, question } = options;
    const answered = await answer.act(access, { task, isAllowed, message, question });
    if (options.json) return output.json(answer.view(answered));
    const { task: id, tool, what } = answered.question;
    const asked = `${oneLine(tool)}: ${oneLine(what)}`;
    output.line(`${isAllowed ? 'Allowed' : 'Denied'} ${id} ${shown(asked)}`);
  });
}

async function show({ output }: Cli, access: Access, word: string, { json }: Options): Promise<void> {
  const asked = await question.act(access, { task: word });
  if (json) return output.json(question.view(asked));
  const { id, task, open, at } = asked;
  if (task === undefined) return fail('not_found', `The board has no task ${id}.`, 'copse list');
  if (open === undefined) return access.board(async ({ board }) => orFail(await noQuestion(board, task)));
  output.line(`${id} ${shown(task.title)}`);
  output.line(indented(questionText(open, at), 4));
  for (const command of answerCommands(open)) output.line(output.style('dim', `  → ${command}`));
}

function requireVerdict(text: string): boolean {
  if (text === 'allow') return true;
  if (text === 'deny') return false;
  return fail('invalid', `The answer must be allow or deny, not "${text}".`, 'copse answer --help');
}
