/** The text of a pull request: the summary, the assignment, the accept commands, the decisions, and the task's id. */

import type { LedgerEntry } from '../../tasks/rules/ledger.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { shown, unreferenced, withoutMentions } from '../../kernel/text.ts';

export interface PullRequestWords {
  readonly task: Pick<Task, 'id' | 'title' | 'body' | 'accept' | 'plan'>;
  readonly summary: string | null;
  readonly ledger: readonly Pick<LedgerEntry, 'kind' | 'text'>[];
}

/** Markdown with trailers as its last paragraph, so that a merge commit with this text keeps them. */
export function describePullRequest({ task, summary, ledger }: PullRequestWords): string {
  const decisions = ledger.filter(({ kind }) => kind === 'decision').map(({ text }) => text);
  const accept = task.accept.map((line) => `- ${quotedCode(line)}`).join('\n');
  const parts = [
    agentWords(summary ?? ''),
    section('Assignment', words(task.body)),
    section('Accept commands', accept),
    section(
      'Decisions',
      decisions.map((text) => `- ${agentWords(text).replaceAll('\n', '\n  ')}`).join('\n'),
    ),
  ].filter((part) => part !== '');
  const trailers = [`Task: ${task.id}`, ...(task.plan === null ? [] : [`Plan: ${task.plan}`])].join('\n');
  return `${cut(parts.join('\n\n'))}${parts.length === 0 ? '' : '\n\n'}${trailers}\n`;
}

function section(title: string, text: string): string {
  return text === '' ? '' : `### ${title}\n\n${text}`;
}

/** What a person wrote may close an issue; what an agent wrote may not. */
function words(text: string): string {
  return withoutMentions(shown(text.trim().replaceAll('\r\n', '\n')));
}

function agentWords(text: string): string {
  return unreferenced(words(text));
}

function quotedCode(line: string): string {
  const harmless = shown(line).replaceAll('\n', ' ');
  const longest = Math.max(0, ...[...harmless.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${harmless}${fence}` : `${fence} ${harmless} ${fence}`;
}

function cut(text: string): string {
  const longest = defaultPolicy.pullRequest.bodyLength;
  if (text.length <= longest) return text;
  // Never between the halves of a surrogate pair.
  return `${text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
