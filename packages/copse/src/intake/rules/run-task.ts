/** The task of a run: its title and text. */

import type { AgentName } from '../../kernel/ids.ts';
import type { TaskDefinition, WorkItem } from '../../tasks/rules/task.ts';

export interface RunWork {
  /** Of the schedule or the trigger. */
  readonly name: string;
  readonly agent: AgentName | null;
  readonly prompt: string | null;
  readonly item: {
    readonly title: string;
    readonly body: string;
    readonly workItem: WorkItem;
  } | null;
}

export function runDefinition(
  blank: TaskDefinition,
  { name, agent, prompt, item }: RunWork,
  { titleLength }: { readonly titleLength: number },
): TaskDefinition {
  if (item !== null) {
    const { title, body, workItem } = item;
    return { ...blank, title: cut(title, titleLength), body, agent, workItem };
  }
  const [first = ''] = (prompt ?? '').trim().split('\n');
  const title = cut(`${name}: ${first.replaceAll(/\s+/g, ' ').trim()}`, titleLength);
  return { ...blank, title, body: prompt ?? '', agent };
}

function cut(text: string, length: number): string {
  // A pair of surrogates is not cut in two.
  return text.length <= length
    ? text
    : `${text
        .slice(0, length - 1)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`;
}
