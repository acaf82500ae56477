/** Which keys answer what needs a person, and what each of them does: in the command line and in the dashboard. */

import type { NeedKind, NeedsYou } from '../overview.ts';

/** What an answer does. Those with `asks` take a line of text. */
export type AnswerKind =
  | 'allow'
  | 'deny'
  | 'deny_with'
  | 'restart'
  | 'restart_with'
  | 'restart_told'
  | 'approve'
  | 'send_back'
  | 'resume'
  | 'resume_with'
  | 'queue'
  | 'retry'
  | 'cancel';

/** How long an answer is held, so that a person can take it back. */
export const HOLD_MS = 5_000;

/** A later question of the same task is another one. */
export function keyOf({ task, kind, since }: Record<'task' | 'kind' | 'since', string | number>): string {
  return `${task} ${kind} ${since}`;
}

interface AnswerWords {
  /** Beside its key. */
  readonly label: string;
  /** After "Done: ", and after the id of the task. */
  readonly done: string;
  /** The question for the line of text. */
  readonly asks?: string;
}

export const answerWords: Readonly<Record<AnswerKind, AnswerWords>> = {
  allow: { label: 'allow', done: 'allowed' },
  deny: { label: 'deny', done: 'denied' },
  deny_with: { label: 'deny with a message', done: 'denied', asks: 'What should the agent do instead?' },
  restart: { label: 'restart', done: 'restarted' },
  restart_with: {
    label: 'restart with your answer',
    done: 'restarted with your answer',
    asks: 'Your answer to the agent:',
  },
  restart_told: {
    label: 'restart with a message',
    done: 'restarted with your message',
    asks: 'Your message to the agent:',
  },
  approve: { label: 'approve', done: 'approved, queued to land' },
  send_back: { label: 'send back with a comment', done: 'sent back', asks: 'What should the agent change?' },
  resume: { label: 'resume', done: 'resumed' },
  resume_with: {
    label: 'resume with a message',
    done: 'resumed with your message',
    asks: 'Your message to the agent:',
  },
  queue: { label: 'queue it again', done: 'queued to land' },
  retry: { label: 'retry', done: 'tried again' },
  cancel: { label: 'cancel the task', done: 'cancelled' },
};

const answers: Readonly<Record<NeedKind, Readonly<Record<string, AnswerKind>>>> = {
  permission: { y: 'allow', n: 'deny', t: 'deny_with', c: 'cancel' },
  question: { t: 'restart_with', r: 'restart', c: 'cancel' },
  review: { a: 'approve', t: 'send_back', c: 'cancel' },
  attention: { r: 'resume', t: 'resume_with', a: 'queue', c: 'cancel' },
  failed: { r: 'restart', t: 'restart_told', c: 'cancel' },
  waiting: { c: 'cancel' },
  landing: { r: 'retry' },
  dependency: { c: 'cancel' },
};

const kindWords: Readonly<Record<NeedKind, string>> = {
  permission: 'asks for permission',
  question: 'asks for a decision',
  review: 'waits for your review',
  attention: 'needs attention',
  failed: 'failed',
  waiting: 'waits for you',
  landing: 'holds the queue',
  dependency: 'cannot start',
};

/** After the id of the task. */
export function needText({ status, kind }: Pick<NeedsYou, 'status' | 'kind'>): string {
  return status === 'stuck' && kind === 'failed' ? 'is stuck' : kindWords[kind];
}

interface Answered {
  readonly kind: NeedKind;
  readonly hasNothingToLand?: true | undefined;
}

/** Enter begins the text, where there is one. */
export function answerFor(need: Answered, key: string): AnswerKind | undefined {
  const name = key === '\r' || key === '\n' ? 't' : key.toLowerCase();
  return answersTo(need).get(name);
}

/** By their keys, the likeliest first. */
export function answersTo({ kind, hasNothingToLand }: Answered): ReadonlyMap<string, AnswerKind> {
  const all = Object.entries(answers[kind]);
  return new Map(hasNothingToLand ? all.filter(([, answer]) => answer !== 'queue') : all);
}

export interface AnswerKey {
  readonly key: string;
  readonly atMs: number;
}

/** A key that is held down comes thirty times a second. */
const REPEAT_MS = 500;

/** Whether a key that answered one task is still held down, or was pressed twice: it does not answer the next one. */
export function isRepeat(before: AnswerKey | undefined, { key, atMs }: AnswerKey): boolean {
  return before !== undefined && key === before.key && atMs - before.atMs < REPEAT_MS;
}

const looks: Readonly<Record<string, string>> = { d: 'diff', l: 'logs', w: 'why' };

/** `y allow`, `n deny`, …: the answers first. */
export function keyHints(need: Answered, canUndo: boolean): readonly string[] {
  const own = [...answersTo(need)].map(([key, answer]) => `${key} ${answerWords[answer].label}`);
  const others = Object.entries({ ...looks, s: 'skip', ...(canUndo && { u: 'undo' }), q: 'quit' });
  return [...own, ...others.map(([key, label]) => `${key} ${label}`)];
}

/** The commands that answer it, for those who do not sit at a terminal. */
export function commandsFor({ kind, task, command }: NeedsYou): readonly string[] {
  switch (kind) {
    case 'review':
      return [command, `copse review ${task} --approve`, `copse review ${task} --send-back "…"`];
    default:
      return [command];
  }
}
