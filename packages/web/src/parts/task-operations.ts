/** All that a person can do with one task: when it applies, the command line that does the same, and what it needs to be told. */

import type { Session } from '../../../copse/src/agents/rules/session/session.ts';
import { shellWord } from '../../../copse/src/kernel/shell.ts';
import { parsePriority, formatPriority } from '../../../copse/src/tasks/rules/priority.ts';
import { type TaskSummary, isAllowed } from '../../../copse/src/tasks/rules/task.ts';
import type { InputOf, OperationName } from '../api/operations.ts';

/** Text that a person types before it is done. */
interface Asked {
  readonly question: string;
  readonly isOptional?: true;
}

export interface TaskFacts {
  readonly task: TaskSummary;
  /** The latest session of the task, if the page has it. */
  readonly session: Session | undefined;
}

export interface TaskOperation {
  readonly name: OperationName;
  readonly label: string;
  readonly asks?: Asked;
  readonly applies: (facts: TaskFacts) => boolean;
  readonly input: (facts: TaskFacts, text: string) => object;
  readonly command: (facts: TaskFacts, text: string) => string;
  /** After the id of the task. */
  readonly done: string;
}

interface Given<N extends OperationName> extends Omit<TaskOperation, 'name' | 'input'> {
  readonly input: (facts: TaskFacts, text: string) => InputOf<N> & object;
}

function on<N extends OperationName>(name: N, given: Given<N>): TaskOperation {
  return { name, ...given };
}

const id = ({ task }: TaskFacts) => task.id;
const is =
  (...statuses: readonly TaskSummary['state']['status'][]) =>
  ({ task }: TaskFacts) =>
    statuses.includes(task.state.status);
const may =
  (action: Parameters<typeof isAllowed>[0]) =>
  ({ task }: TaskFacts) =>
    isAllowed(action, task.state.status);
const line = (verb: string) => (facts: TaskFacts) => `copse ${verb} ${id(facts)}`;
const lineWith = (verb: string, option: string) => (facts: TaskFacts, text: string) =>
  text === '' ? `copse ${verb} ${id(facts)}` : `copse ${verb} ${id(facts)} ${option} ${shellWord(text)}`;
const hasWorktree = is('in_progress', 'paused', 'stuck', 'in_review', 'needs_attention');

function openQuestion({ session }: TaskFacts): string | undefined {
  return session?.question != null && session.question.answer === null ? session.question.id : undefined;
}

function headOf({ task }: TaskFacts): string | undefined {
  return task.state.status === 'in_review' ? task.state.head : undefined;
}

function answering(verdict: 'allow' | 'deny'): TaskOperation {
  return on('question.answer', {
    label: verdict === 'allow' ? 'Allow what its agent asks for' : 'Deny what its agent asks for',
    ...(verdict === 'deny' && { asks: { question: 'What should the agent do instead?', isOptional: true } }),
    applies: (facts) => openQuestion(facts) !== undefined,
    input: (facts, text) => ({
      task: id(facts),
      isAllowed: verdict === 'allow',
      ...(text !== '' && { message: text }),
      question: openQuestion(facts),
    }),
    command: (facts, text) =>
      `copse answer ${id(facts)} ${verdict} --question ${openQuestion(facts)}${text === '' ? '' : ` --message ${shellWord(text)}`}`,
    done: verdict === 'allow' ? 'allowed' : 'denied',
  });
}

/** The likeliest first. */
export const taskOperations: readonly TaskOperation[] = [
  answering('allow'),
  answering('deny'),
  on('review.approve', {
    label: 'Approve',
    applies: is('in_review'),
    input: (facts) => ({ task: id(facts), head: headOf(facts) }),
    command: (facts) => `copse review ${id(facts)} --approve --head ${headOf(facts)?.slice(0, 10)}`,
    done: 'approved, queued to land',
  }),
  on('review.send_back', {
    label: 'Send back',
    asks: { question: 'What should the agent change?' },
    applies: is('in_review'),
    input: (facts, comment) => ({ task: id(facts), comment }),
    command: (facts, text) => `copse review ${id(facts)} --send-back ${shellWord(text || '…')}`,
    done: 'sent back',
  }),
  on('task.resume', {
    label: 'Resume',
    asks: { question: 'A message to the agent, or nothing', isOptional: true },
    applies: may('resume'),
    input: (facts, text) => ({ task: id(facts), ...(text !== '' && { message: text }) }),
    command: lineWith('resume', '--message'),
    done: 'resumed',
  }),
  on('task.restart', {
    label: 'Restart',
    asks: { question: 'Your answer to the agent, or nothing', isOptional: true },
    applies: may('restart'),
    input: (facts, text) => ({ task: id(facts), ...(text !== '' && { answer: text }) }),
    command: lineWith('restart', '--answer'),
    done: 'restarted',
  }),
  on('task.pause', {
    label: 'Pause',
    applies: may('pause'),
    input: (facts) => ({ task: id(facts) }),
    command: line('pause'),
    done: 'paused',
  }),
  on('queue.retry', {
    label: 'Queue it again',
    applies: is('needs_attention', 'landing'),
    input: (facts) => ({ tasks: [id(facts)] }),
    command: line('queue retry'),
    done: 'queued to land',
  }),
  on('task.merge', {
    label: 'Land now',
    applies: is('in_review', 'needs_attention', 'landing'),
    input: (facts) => ({ tasks: [id(facts)] }),
    command: line('merge'),
    done: 'asked to land',
  }),
  on('queue.front', {
    label: 'Move to the front of the queue',
    applies: is('landing'),
    input: (facts) => ({ tasks: [id(facts)] }),
    command: line('queue front'),
    done: 'moved to the front',
  }),
  on('queue.cancel', {
    label: 'Take out of the queue',
    applies: is('landing'),
    input: (facts) => ({ tasks: [id(facts)] }),
    command: line('queue cancel'),
    done: 'taken out of the queue',
  }),
  on('task.edit', {
    label: 'Change the priority',
    asks: { question: 'p1 to p5; p5 is the most urgent' },
    applies: may('edit'),
    input: (facts, text) => ({
      task: id(facts),
      priority: formatPriority(parsePriority(text) ?? facts.task.priority),
    }),
    command: lineWith('edit', '--priority'),
    done: 'changed',
  }),
  on('task.edit', {
    label: 'Change the title',
    asks: { question: 'The new title' },
    applies: may('edit'),
    input: (facts, title) => ({ task: id(facts), title }),
    command: lineWith('edit', '--title'),
    done: 'changed',
  }),
  on('task.work', {
    label: 'Work on it by hand',
    applies: is('ready'),
    input: (facts) => ({ task: id(facts) }),
    command: line('work'),
    done: 'has a worktree for you',
  }),
  on('worktree.sync', {
    label: 'Bring its branch up to date',
    applies: hasWorktree,
    input: (facts) => ({ task: id(facts) }),
    command: line('sync'),
    done: 'brought up to date',
  }),
  on('task.move', {
    label: 'Move to another machine',
    asks: { question: 'The name of the machine' },
    applies: may('move'),
    input: (facts, to) => ({ task: id(facts), to }),
    command: lineWith('move', '--to'),
    done: 'moved',
  }),
  on('ledger.add', {
    label: 'Note for the next agent',
    asks: { question: 'What the next agent should know' },
    applies: () => true,
    input: (facts, text) => ({ task: id(facts), kind: 'learning' as const, text }),
    command: (facts, text) => `copse ledger add learning ${shellWord(text || '…')} --task ${id(facts)}`,
    done: 'has the note',
  }),
  on('landing.undo', {
    label: 'Undo its landing',
    applies: ({ task: { state } }) => state.status === 'done' && state.how === 'landed',
    input: (facts) => ({ task: id(facts) }),
    command: line('undo'),
    done: 'is being undone by a new task',
  }),
  on('worktree.cleanup', {
    label: 'Remove its worktree',
    applies: is('done', 'cancelled'),
    input: (facts) => ({ task: id(facts) }),
    command: line('cleanup'),
    done: 'has no worktree any more',
  }),
  on('task.cancel', {
    label: 'Cancel the task',
    applies: may('cancel'),
    input: (facts) => ({ task: id(facts) }),
    command: line('cancel'),
    done: 'cancelled',
  }),
  on('task.delete', {
    label: 'Delete the task',
    applies: may('delete'),
    input: (facts) => ({ tasks: [id(facts)] }),
    command: line('delete'),
    done: 'deleted',
  }),
];

/** The operation that a command line of a next step stands for, if the page can do it without more words. */
export function operationOfCommand(command: string, facts: TaskFacts): TaskOperation | undefined {
  return taskOperations.find(
    (one) =>
      one.applies(facts) &&
      (one.asks === undefined || one.asks.isOptional) &&
      one.command(facts, '') === command.trim(),
  );
}
