/** What an agent asks and how to answer it, wherever its task is shown. */

import type { OpenQuestion } from '../../agents/act/answer.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import { age } from './render.ts';

/** In one line: enough to know that somebody waits. */
export function questionLine({ task, tool, what, since }: OpenQuestion, now: Timestamp): string {
  const [first = ''] = what.trim().split('\n', 1);
  return (
    `asks for ${age(since, now)}: may it use ${tool}? ${first}`.trimEnd() + `\n→ copse answer ${task} allow`
  );
}

/** Everything that the answer is about. */
export function questionText({ tool, what, since }: OpenQuestion, now: Timestamp): string {
  return `Its agent asks for ${age(since, now)} whether it may use ${shown(tool)}:\n${shown(what.trimEnd())}`;
}

export function questionView({ since, ...question }: OpenQuestion) {
  return { ...question, since: new Date(since).toISOString() };
}
