/** What an answer calls and which command line does the same. The answers and their words are those of `copse inbox`. */

import type { AnswerKind } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { unreachable } from '../../../../copse/src/kernel/unreachable.ts';
import type { Client } from '../../api/client.ts';
import type { OutputOf } from '../../api/operations.ts';

export type Need = OutputOf<'inbox.list'>['needsYou'][number];

/** Everything the answer is about: it counts only for what was on the page. */
export interface ShownNeed {
  readonly need: Need;
  /** Of a permission: the id of the question. */
  readonly question: string | undefined;
  /** Of a review: the commit. */
  readonly head: string | undefined;
}

export interface GivenAnswer extends ShownNeed {
  readonly answer: AnswerKind;
  readonly text: string;
}

export function callAnswer(
  client: Pick<Client, 'call'>,
  { need: { task }, question, head, answer, text }: GivenAnswer,
  options: { readonly keepalive?: boolean } = {},
): Promise<unknown> {
  switch (answer) {
    case 'allow':
      return client.call('question.answer', { task, isAllowed: true, question }, options);
    case 'deny':
    case 'deny_with':
      return client.call(
        'question.answer',
        { task, isAllowed: false, question, ...(text !== '' && { message: text }) },
        options,
      );
    case 'restart':
    case 'restart_with':
    case 'restart_told':
      return client.call('task.restart', { task, ...(text !== '' && { answer: text }) }, options);
    case 'approve':
      return client.call('review.approve', { task, head }, options);
    case 'send_back':
      return client.call('review.send_back', { task, comment: text }, options);
    case 'resume':
    case 'resume_with':
      return client.call('task.resume', { task, ...(text !== '' && { message: text }) }, options);
    case 'queue':
    case 'retry':
      return client.call('queue.retry', { tasks: [task] }, options);
    case 'cancel':
      return client.call('task.cancel', { task }, options);
    default:
      return unreachable(answer);
  }
}

/** As it can be pasted into a shell; `…` stands for a text that is not typed yet. */
export function commandOfAnswer({ need, question, head, answer, text }: GivenAnswer): string {
  const { task } = need;
  const about = question === undefined ? '' : ` --question ${question}`;
  const said = shellWord(text === '' ? '…' : text);
  switch (answer) {
    case 'allow':
      return `copse answer ${task} allow${about}`;
    case 'deny':
      return `copse answer ${task} deny${about}`;
    case 'deny_with':
      return `copse answer ${task} deny${about} --message ${said}`;
    case 'restart':
      return `copse restart ${task}`;
    case 'restart_with':
    case 'restart_told':
      return `copse restart ${task} --answer ${said}`;
    case 'approve':
      return `copse review ${task} --approve${head === undefined ? '' : ` --head ${head.slice(0, 10)}`}`;
    case 'send_back':
      return `copse review ${task} --send-back ${said}`;
    case 'resume':
      return `copse resume ${task}`;
    case 'resume_with':
      return `copse resume ${task} --message ${said}`;
    case 'queue':
    case 'retry':
      return `copse queue retry ${task}`;
    case 'cancel':
      return `copse cancel ${task}`;
    default:
      return unreachable(answer);
  }
}

/** How it is taken back after it was done: from the queue, or by the command that stops what it began. */
export function undoOfAnswer(answer: AnswerKind): 'unqueue' | 'pause' | null {
  switch (answer) {
    case 'approve':
    case 'queue':
      return 'unqueue';
    case 'restart':
    case 'restart_with':
    case 'restart_told':
    case 'resume':
    case 'resume_with':
    case 'send_back':
    case 'allow':
    case 'deny':
    case 'deny_with':
      return 'pause';
    case 'retry':
    case 'cancel':
      return null;
    default:
      return unreachable(answer);
  }
}
