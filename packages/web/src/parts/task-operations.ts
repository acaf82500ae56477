/** All that a person can do with one task: when it applies, the command line that does the same, and what it needs to be told. */

import type { Session } from '../../../copse/src/agents/rules/session/session.ts';
import { answerWords } from '../../../copse/src/explain/rules/inbox/answers.ts';
import { shellWord } from '../../../copse/src/kernel/shell.ts';
import { parsePriority, formatPriority } from '../../../copse/src/tasks/rules/priority.ts';
import { type TaskSummary, isAllowed } from '../../../copse/src/tasks/rules/task.ts';
import type { Confirmation } from '../api/destroying.ts';
import type { InputOf, OperationName, OutputOf } from '../api/operations.ts';
import type { Toast } from './shown-toasts.ts';

/** Text that a person types before it is done. */
interface Asked {
  readonly question: string;
  readonly isOptional?: true;
  /** Why the text cannot be sent. */
  readonly refuses?: (text: string) => string | undefined;
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
  /** Where the palette and the board do not show what it is about. */
  readonly confirms?: (facts: TaskFacts) => Confirmation | undefined;
  /** After the id of the task. */
  readonly done: string;
  /** Where the answer of the server says what was done. */
  readonly says?: (task: string, output: unknown) => Toast;
}

interface Given<N extends OperationName> extends Omit<TaskOperation, 'name' | 'input' | 'says'> {
  readonly input: (facts: TaskFacts, text: string) => InputOf<N> & object;
  readonly says?: (task: string, output: OutputOf<N>) => Toast;
}

function on<N extends OperationName>(name: N, { says, ...given }: Given<N>): TaskOperation {
  // The client answers with the output of the operation that was called.
  return { name, ...given, ...(says && { says: (task, output) => says(task, output as OutputOf<N>) }) };
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

function landsUnread(facts: TaskFacts): Confirmation | undefined {
  const head = headOf(facts)?.slice(0, 10);
  if (head === undefined) return undefined;
  return {
    title: `Land ${head} of ${id(facts)} without a review?`,
    text: 'Its changes are not shown here. The page of the task shows them.',
  };
}

/** What came of `task.merge`. */
export function landingToast(task: string, { landings: [first] }: OutputOf<'task.merge'>): Toast {
  if (first === undefined || first.landing === 'waits') return { text: `${task} is queued to land.` };
  if (first.landing === 'landed') return { text: `${task} landed as ${first.commit.slice(0, 10)}.` };
  return {
    text: first.landing === 'gone' ? `${first.reason}.` : `${task} did not land.`,
    isProblem: true,
    next: [`copse why ${task}`],
  };
}

function answering(verdict: 'allow' | 'deny'): TaskOperation {
  return on('question.answer', {
    label: verdict === 'allow' ? 'Allow what its agent asks for' : 'Deny what its agent asks for',
    ...(verdict === 'deny' && { asks: { question: askedWith('deny_with'), isOptional: true } }),
    applies: (facts) => openQuestion(facts) !== undefined,
    confirms: (facts) => {
      const question = facts.session?.question;
      return question == null
        ? undefined
        : { title: `Its agent asks to use ${question.tool}`, text: question.what };
    },
    input: (facts, text) => ({
      task: id(facts),
      isAllowed: verdict === 'allow',
      ...(text !== '' && { message: text }),
      question: openQuestion(facts),
    }),
    command: (facts, text) =>
      `copse answer ${id(facts)} ${verdict} --question ${openQuestion(facts)}${text === '' ? '' : ` --message ${shellWord(text)}`}`,
    done: answerWords[verdict].done,
  });
}

const MESSAGE = 'What its agent is told (may be empty)';

function askedWith(answer: 'deny_with' | 'send_back'): string {
  return answerWords[answer].asks ?? '';
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
    confirms: landsUnread,
    done: answerWords.approve.done,
  }),
  on('review.send_back', {
    label: 'Send back',
    asks: { question: askedWith('send_back') },
    applies: is('in_review'),
    input: (facts, comment) => ({ task: id(facts), comment }),
    command: (facts, text) => `copse review ${id(facts)} --send-back ${shellWord(text || '…')}`,
    done: answerWords.send_back.done,
  }),
  on('task.resume', {
    label: 'Resume',
    asks: { question: MESSAGE, isOptional: true },
    applies: may('resume'),
    input: (facts, text) => ({ task: id(facts), ...(text !== '' && { message: text }) }),
    command: lineWith('resume', '--message'),
    done: answerWords.resume.done,
  }),
  on('task.restart', {
    label: 'Restart',
    asks: { question: MESSAGE, isOptional: true },
    applies: may('restart'),
    input: (facts, text) => ({ task: id(facts), ...(text !== '' && { answer: text }) }),
    command: lineWith('restart', '--answer'),
    done: answerWords.restart.done,
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
    done: answerWords.queue.done,
  }),
  on('task.merge', {
    label: 'Land now',
    applies: is('in_review', 'needs_attention', 'landing'),
    input: (facts) => {
      const head = headOf(facts);
      return { tasks: [id(facts)], waitSeconds: 0, ...(head !== undefined && { head }) };
    },
    command: (facts) => {
      const head = headOf(facts);
      return `copse merge ${id(facts)}${head === undefined ? '' : ` --head ${head.slice(0, 10)}`}`;
    },
    confirms: landsUnread,
    done: 'queued to land',
    says: landingToast,
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
    asks: {
      question: 'p1 to p5; p5 is the most urgent',
      refuses: (text) =>
        parsePriority(text) === undefined
          ? `"${text}" is no priority. Type p1, p2, p3, p4 or p5.`
          : undefined,
    },
    applies: may('edit'),
    input: (facts, text) => ({
      task: id(facts),
      priority: formatPriority(parsePriority(text) ?? facts.task.priority),
    }),
    command: lineWith('edit', '--priority'),
    done: 'changed',
    says: (task, { priority }) => ({ text: `${task} has priority ${priority} now.` }),
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
    label: 'Undo the landing',
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
    done: answerWords.cancel.done,
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

/** The word for it wherever it is offered. */
export function labelOf(name: OperationName): string {
  return operationNamed(name).label;
}

/** The first of this name. */
export function operationNamed(name: OperationName): TaskOperation {
  const operation = taskOperations.find((one) => one.name === name);
  if (operation === undefined) throw new Error(`${name} is no operation about one task`);
  return operation;
}

export function doneToast({ done, says }: TaskOperation, { id: task }: TaskSummary, output: unknown): Toast {
  return says?.(task, output) ?? { text: `${task} ${done}.` };
}
