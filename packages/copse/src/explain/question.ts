/** What an agent asks and how to answer it, wherever its task is shown. */

import type { OpenQuestion } from '../agents/act/answer.ts';
import type { Attention } from '../agents/rules/session/session.ts';
import type { TaskId, Timestamp } from '../kernel/ids.ts';
import { shown } from '../kernel/text.ts';
import { age } from './rules/amounts.ts';

/** For lists: the question in one line, the command in another. */
export function questionLines(question: OpenQuestion, now: Timestamp): readonly string[] {
  const waited = ` (waiting ${age(question.since, now)})`;
  return [questionClause(question, waited), `→ copse answer ${question.task} allow`];
}

/** In one line; `waited` comes after the tool. */
export function questionClause({ tool, what }: Pick<OpenQuestion, 'tool' | 'what'>, waited = ''): string {
  const [first = ''] = what.trim().split('\n', 1);
  return `asks to use ${tool}${waited}: ${first}`.trimEnd();
}

/** An agent that waits for a person and asks no question that Copse could answer. */
export function waitingClause(attention: Attention): string {
  return `waits for a person: ${attention}`;
}

/** Everything that the answer is about. */
export function questionText({ tool, what, since }: OpenQuestion, now: Timestamp): string {
  return `The agent asks to use ${shown(tool)} (waiting ${age(since, now)}):\n${shown(what.trimEnd())}`;
}

export function answerCommands(task: TaskId): readonly string[] {
  return [`copse answer ${task} allow`, `copse answer ${task} deny --message "…"`];
}

export function questionView({ since, ...question }: OpenQuestion) {
  return { ...question, since: new Date(since).toISOString() };
}
