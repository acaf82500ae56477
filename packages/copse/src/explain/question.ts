/** What an agent asks and how to answer it, wherever its task is shown. */

import type { OpenQuestion } from '../agents/act/answer.ts';
import type { Timestamp } from '../kernel/ids.ts';
import { shown } from '../kernel/text.ts';
import { age } from './rules/amounts.ts';
import { oneLine, questionClause } from './rules/reason.ts';

/** For lists: the question in one line, and the command that shows all of it. */
export function questionLines(question: OpenQuestion, now: Timestamp): readonly string[] {
  const waited = ` (waiting ${age(question.since, now)})`;
  return [questionClause(question, waited), `→ copse answer ${question.task}`];
}

/** Everything that the answer is about. */
export function questionText({ tool, what, since }: OpenQuestion, now: Timestamp): string {
  return `The agent asks to use ${shown(oneLine(tool))} (waiting ${age(since, now)}):\n${shown(what.trimEnd())}`;
}

/** They count only for this question: the agent may have asked another one when they are pasted. */
export function answerCommands({ task, id }: Pick<OpenQuestion, 'task' | 'id'>): readonly string[] {
  const about = `--question ${id}`;
  return [`copse answer ${task} allow ${about}`, `copse answer ${task} deny ${about} --message "…"`];
}

export function questionView({ since, ...question }: OpenQuestion) {
  return { ...question, since: new Date(since).toISOString() };
}
