import { type OpenQuestion, answerQuestion } from '../../agents/act/answer.ts';
import { questionView } from '../../explain/question.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskId } from '../find.ts';

interface Input {
  readonly task: string;
  readonly isAllowed: boolean;
  readonly message?: string | undefined;
  /** Its id: the answer is refused when another question is open by now. */
  readonly question?: string | undefined;
}

interface Answered {
  readonly question: OpenQuestion;
  readonly isAllowed: boolean;
  readonly message: string | null;
}

export async function act(access: Access, input: Input): Promise<Answered> {
  return access.board(async (context) => {
    const { isAllowed, message = null, question } = input;
    const id = await requireTaskId(context.board, input.task);
    const answered = orFail(await answerQuestion(context, id, { isAllowed, message, question }));
    return { question: answered, isAllowed, message };
  });
}

export function view({ question, isAllowed, message }: Answered) {
  return { question: questionView(question), isAllowed, message };
}
