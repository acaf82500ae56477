/** Which keys can act on a task, and the command that each of them runs: the same as a person would type. */

import type { NeedKind } from '../../explain/rules/overview.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { type TaskStatus, isAllowed } from '../../tasks/rules/task.ts';

export interface ActionTarget {
  readonly task: TaskId;
  readonly title: string;
  readonly status: TaskStatus;
  /** Null when it needs no person. */
  readonly need: NeedKind | null;
  readonly hasNothingToLand?: true;
  readonly hasTerminal?: true;
}

export type ActionKey = 'a' | 'A' | 's' | 'r' | 'p' | 'c' | 'd' | 'l' | 't' | 'w';

interface Action {
  readonly key: ActionKey;
  /** For the last line of the screen. */
  label(target: ActionTarget): string;
  readonly help: string;
  isPossible(target: ActionTarget): boolean;
}

/** They ran, or run: there may be changes and output. */
const hasBegun = ({ status }: ActionTarget): boolean => status !== 'pending' && status !== 'ready';

const isReviewable = ({ status }: ActionTarget): boolean =>
  status === 'in_review' || status === 'needs_attention';

export const actions: readonly Action[] = [
  {
    key: 'a',
    label: ({ need }) => (need === 'permission' ? 'allow or deny' : 'answer'),
    help: 'answer its agent: allow or deny, or one line of text',
    isPossible: ({ need, status }) => need === 'permission' || status === 'stuck',
  },
  {
    key: 'A',
    label: ({ status }) => (status === 'needs_attention' ? 'queue again' : 'approve'),
    help: 'approve its work, or queue it again: it lands through the queue',
    isPossible: (target) => isReviewable(target) && !target.hasNothingToLand,
  },
  {
    key: 's',
    label: ({ status }) => (status === 'needs_attention' ? 'resume' : 'send back'),
    help: 'let its agent continue, with a comment',
    isPossible: isReviewable,
  },
  {
    key: 'r',
    label: () => 'restart',
    help: 'restart it in a new conversation',
    isPossible: ({ status }) => isAllowed('restart', status),
  },
  {
    key: 'p',
    label: ({ status }) => (status === 'paused' ? 'resume' : 'pause'),
    help: 'pause its agent, or resume a paused task',
    isPossible: ({ status }) => isAllowed('pause', status) || status === 'paused',
  },
  {
    key: 'c',
    label: () => 'cancel',
    help: 'cancel it (asks first)',
    isPossible: ({ status }) => isAllowed('cancel', status),
  },
  { key: 'd', label: () => 'diff', help: 'show its changes in your pager', isPossible: hasBegun },
  { key: 'l', label: () => 'logs', help: 'follow the output of its agent', isPossible: hasBegun },
  {
    key: 't',
    label: () => 'attach',
    help: 'attach to its agent’s terminal in tmux (Ctrl+B D comes back)',
    isPossible: ({ status, hasTerminal }) => status === 'in_progress' && hasTerminal === true,
  },
  { key: 'w', label: () => 'worktree', help: 'show the path of its worktree', isPossible: hasBegun },
];

export function possibleActions(target: ActionTarget): readonly Action[] {
  return actions.filter((action) => action.isPossible(target));
}

export function helpLines(): readonly string[] {
  const line = (key: string, text: string) => `  ${key.padEnd(11)} ${text}`;
  return [
    'For the selected task (the last line lists those that can act on it):',
    ...actions.map(({ key, help }) => line(key, help)),
    line('Enter', 'everything that copse why says'),
    '',
    'Everywhere:',
    line('↑ ↓ j k', 'select another task; PgUp PgDn Home End too'),
    line('Tab', 'select the next task that needs you'),
    line('/', 'show only tasks with these words; Esc shows all'),
    line(':', 'run a command of copse; . is the selected task'),
    line('?', 'this page'),
    line('q Ctrl+C', 'quit; tasks and agents go on'),
  ];
}

/** Words of a command line as a shell splits them: quotes and backslashes, nothing else. Null for an open quote. */
export function splitWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const [whole] = /^(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/s.exec(rest) ?? [];
    if (whole === undefined) return null;
    rest = rest.slice(whole.length);
    if (rest !== '' && !/^\s/.test(rest)) return null;
    words.push(unquoted(whole));
    rest = rest.trimStart();
  }
  return words;
}

function unquoted(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gs,
    (_, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? '',
  );
}
