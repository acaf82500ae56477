/** Does what a person answered in the inbox, with the same code as the commands, and takes it back where that is possible. */

import { answerQuestion } from '../../agents/act/answer.ts';
import { restartTask, resumeTask } from '../../agents/act/go-on.ts';
import { cancelTask } from '../../agents/act/stop-task.ts';
import type { Outcome } from '../../board/context.ts';
import type { NeedsYou } from '../../explain/rules/overview.ts';
import { refused } from '../../kernel/decision.ts';
import type { CommitId } from '../../kernel/ids.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { tryAgain, unqueueTasks } from '../../queue/act/control.ts';
import { queueTask } from '../../queue/act/merge.ts';
import { type RunContext, contextOf } from '../../queue/context.ts';
import { statusPredicate } from '../../tasks/rules/task.ts';
import { approve, sendBack } from '../../review/act/review.ts';
import type { OpenRun } from '../../compose/run/run.ts';
import { shellWord } from '../../kernel/shell.ts';
import type { AnswerKind } from '../../explain/rules/inbox/answers.ts';

/** Everything the answer is about: it counts only for what was on the screen. */
export interface ShownNeed {
  readonly need: NeedsYou;
  /** Of a permission: the id of the question. */
  readonly question: string | undefined;
  /** Of a review: the commit. */
  readonly head: CommitId | null;
}

export interface GivenAnswer extends ShownNeed {
  readonly answer: AnswerKind;
  readonly text: string | null;
}

export async function doAnswer(
  opened: RunContext,
  unusable: OpenRun['unusable'],
  { need: { task }, question, head, answer, text }: GivenAnswer,
): Promise<Outcome<unknown>> {
  const context = await contextOf(opened, await opened.board.get('task', task));
  switch (answer) {
    case 'allow':
      return answerQuestion(context, task, { isAllowed: true, message: null, question });
    case 'deny':
    case 'deny_with':
      return answerQuestion(context, task, { isAllowed: false, message: text, question });
    case 'restart':
    case 'restart_with':
    case 'restart_told':
      return restartTask(context, task, { answer: text });
    case 'approve':
      return approve(context, task, head);
    case 'send_back':
      return sendBack(context, task, text ?? '', unusable);
    case 'resume':
    case 'resume_with':
      return resumeTask(context, task, text);
    case 'queue':
      return queueTask(context, task);
    case 'retry':
      return tryAgain(context, task);
    case 'cancel':
      return cancelTask(context, task, null);
    default:
      return unreachable(answer);
  }
}

/** After it was done. An answer that is still held is only dropped. */
export async function undoAnswer(
  context: RunContext,
  { need: { task, title }, answer }: GivenAnswer,
): Promise<Outcome<unknown>> {
  switch (answer) {
    case 'approve':
    case 'queue': {
      const landed = (await context.board.get('task', task))?.state.status === 'done';
      if (landed) return refused('wrong_status', `${task} has landed meanwhile.`, `copse undo ${task}`);
      return unqueueTasks(context, [task], 'taken back in the inbox');
    }
    case 'restart':
    case 'restart_with':
    case 'restart_told':
    case 'resume':
    case 'resume_with':
    case 'send_back':
      return takeBackStart(context, task);
    case 'allow':
    case 'deny':
    case 'deny_with':
      return refused('wrong_status', `The agent of ${task} has your answer already.`, `copse pause ${task}`);
    case 'retry':
      return refused('wrong_status', `${task} was tried again already.`, `copse why ${task}`);
    case 'cancel': {
      const reason = `A cancelled task stays cancelled; Copse did not remove its worktree. Add it again:`;
      return refused('wrong_status', reason, `copse add ${shellWord(title)}`);
    }
    default:
      return unreachable(answer);
  }
}

/** A task that still waits for an agent cannot go back to its question; one that began can be stopped. */
async function takeBackStart(
  { board }: RunContext,
  task: GivenAnswer['need']['task'],
): Promise<Outcome<unknown>> {
  const status = (await board.get('task', task))?.state.status;
  if (status === 'in_progress')
    return refused('wrong_status', `The agent of ${task} has begun. To stop it:`, `copse pause ${task}`);
  return refused(
    'wrong_status',
    `${task} ${status === undefined ? 'was deleted' : statusPredicate(status)} by now.`,
    `copse why ${task}`,
  );
}
