/** What an agent asks and how to answer it, wherever its task is shown. */

import type { OpenQuestion } from '../agents/act/answer.ts';
import type { TaskId, Timestamp } from '../kernel/ids.ts';
import { shown } from '../kernel/text.ts';
import { age } from './rules/amounts.ts';

/** For lists: the question in one line, the command in another. */
export function questionLines({ task, tool, what, since }: OpenQuestion, now: Timestamp): readonly string[] {
  const [first = ''] = what.trim().split('\n', 1);
  return [
    `asks to use ${tool} (waiting ${age(since, now)}): ${first}`.trimEnd(),
    `→ copse answer ${task} allow`,
  ];
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
