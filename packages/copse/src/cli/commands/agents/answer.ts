import { answerQuestion, noQuestion, openQuestionOf } from '../../../agents/act/answer.ts';
import { shown } from '../../../kernel/text.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { answerCommands, questionText, questionView } from '../../../explain/question.ts';
import { oneLine } from '../../../explain/rules/reason.ts';
import { indented } from '../../screen/render.ts';
import { requireTaskId, withBoard } from '../../with-board.ts';

interface Options {
  readonly message?: string;
  readonly question?: string;
  readonly json?: boolean;
}

/** Answers with `allow` or `deny`; without them, shows the question. */
export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word = '', verdict] = words;
  const isAllowed = verdict === undefined ? undefined : requireVerdict(verdict);
  await withBoard(cli, async (context) => {
    const id = await requireTaskId(context.board, word);
    if (isAllowed === undefined) {
      const task = await context.board.get('task', id);
      const open = task && (await openQuestionOf(context.board, task));
      if (options.json) cli.output.json({ task: id, question: open ? questionView(open) : null });
      else if (task === undefined) fail('not_found', `The board has no task ${id}.`, 'copse list');
      else if (open === undefined) orFail(await noQuestion(context.board, task));
      else {
        cli.output.line(`${id} ${shown(task.title)}`);
        cli.output.line(indented(questionText(open, context.clock.now()), 4));
        for (const command of answerCommands(open))
          cli.output.line(cli.output.style('dim', `  → ${command}`));
      }
      return;
    }
    const { message = null, question } = options;
    const answered = orFail(await answerQuestion(context, id, { isAllowed, message, question }));
    if (options.json) cli.output.json({ question: questionView(answered), isAllowed, message });
    else {
      const what = `${oneLine(answered.tool)}: ${oneLine(answered.what)}`;
      cli.output.line(`${isAllowed ? 'Allowed' : 'Denied'} ${id} ${shown(what)}`);
    }
  });
}

function requireVerdict(text: string): boolean {
  if (text === 'allow') return true;
  if (text === 'deny') return false;
  return fail('invalid', `The answer must be one of allow, deny, not "${text}".`, 'copse answer --help');
}
