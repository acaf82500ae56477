/**
 * What people are told without asking: which events are worth it, in which words, and how often.
 *
 *   event → occasion (a kind, a task, a reason, the command to run) → notice (about one occasion, or about several)
 *
 * An occasion waits until it may be told:
 * - the same kind about the same task is told at most once in `repeatMs`; a later one replaces the one that waits;
 * - at most `burst` notices go out in `burstMs`; what comes on top waits, and goes out as one notice about all of it.
 * Nothing is dropped for coming too early: an agent that asks again would wait for somebody who does not know. What is
 * settled while it waits (answered, restarted, cancelled) is not told any more. A queue that does not move is told when that
 * has lasted for a while, about the task that waits in it for longest.
 */

import type { BoardEvent, EventType } from '../../board/rules/event.ts';
import type { BranchName, TaskId, Timestamp } from '../../kernel/ids.ts';
import { type Policy, defaultPolicy } from '../../kernel/policy.ts';
import { type PullRequest, summarise } from '../../review/rules/pull-request.ts';
import type { DoneHow } from '../../tasks/rules/task.ts';
import { named, shown } from '../../kernel/text.ts';

export type NoticeKind = (typeof defaultPolicy.notifications.events)[number];

/** Something that a person would want to know. */
export interface Occasion {
  readonly kind: NoticeKind;
  readonly task: TaskId;
  readonly title: string;
  readonly reason: string;
  /** What to do about it. */
  readonly command: string;
  readonly at: Timestamp;
  /** Of a queue that does not move: which, and when that has lasted long enough to be told. */
  readonly stall?: { readonly queue: BranchName; readonly dueMs: number };
}

/** What is sent. */
export interface Notice {
  readonly headline: string;
  readonly text: string;
  readonly command: string;
  /** Somebody waits, or something is lost if nobody looks. */
  readonly isUrgent: boolean;
  readonly about: readonly Occasion[];
}

/** Every type of event that `occasionOf` or `settledBy` has an answer for. */
export const noticedTypes = [
  'session.asked',
  'session.attention',
  'session.answered',
  'session.advanced',
  'session.reopened',
  'session.completed',
  'session.stuck',
  'session.interrupted',
  'session.cancelled',
  'task.stuck',
  'task.needs_attention',
  'task.sent_to_review',
  'task.pull_request_changed',
  'task.crashed',
  'task.done',
  'task.claimed',
  'task.restarted',
  'task.resumed',
  'task.queued',
  'task.paused',
  'task.cancelled',
  'task.deleted',
  'queue.stalled',
  'queue.moving',
] as const satisfies readonly EventType[];

/** `leftQueue`: why it is in review again, if it was to land. */
export function occasionOf(
  event: BoardEvent,
  { id: task, title }: { readonly id: TaskId; readonly title: string },
  leftQueue: string | null = null,
): Occasion | undefined {
  const { at } = event;
  const occasion = (kind: NoticeKind, reason: string, command: string): Occasion => ({
    kind,
    task,
    title,
    reason: firstLine(reason),
    command: `copse ${command}`,
    at,
  });
  switch (event.type) {
    case 'session.asked': {
      const { tool, what } = event.question;
      return occasion('permission', `${tool}: ${what.trim()}`, `answer ${task}`);
    }
    case 'session.attention':
      return event.attention === null
        ? undefined
        : occasion(event.attention, event.message ?? '', `why ${task}`);
    case 'task.stuck':
      return occasion('stuck', event.reason, `restart ${task} --answer "…"`);
    case 'task.needs_attention':
      return occasion('needs_attention', event.reason, `why ${task}`);
    case 'task.sent_to_review':
      return event.pullRequest === null
        ? occasion('review', leftQueue ?? 'It is finished.', `review ${task}`)
        : undefined;
    case 'task.pull_request_changed':
      return needsPerson(event.pullRequest)
        ? occasion('needs_attention', summarise(event.pullRequest), `why ${task}`)
        : undefined;
    case 'task.crashed':
      return event.delay === null ? occasion('failed', event.reason, `why ${task}`) : undefined;
    case 'task.done':
      return occasion('landed', doneReasons[event.how], `show ${task}`);
    default:
      return undefined;
  }
}

/** Somebody decided against it as it is, or nothing more is tried. */
function needsPerson(pullRequest: PullRequest): boolean {
  const isSentBack = pullRequest.is === 'open' && pullRequest.review === 'changes_requested';
  return isSentBack || pullRequest.is === 'closed' || pullRequest.is === 'given_up';
}

const doneReasons: Readonly<Record<DoneHow, string>> = {
  landed: 'It landed.',
  pull_request: 'Its pull request was merged.',
  artifacts: 'There is no code to land.',
  no_changes: 'There was nothing to do.',
  as_it_is: 'It is done as it is, on its branch.',
};

/** Which kinds about the event's task nobody needs to hear of any more. */
export function settledBy(event: BoardEvent): readonly NoticeKind[] {
  switch (event.type) {
    case 'session.attention':
      return event.attention === null ? ['idle'] : [];
    case 'session.answered':
      return ['permission', 'idle'];
    // An agent that goes on waits for nobody; one of its helpers may still.
    case 'session.advanced':
      return ['idle'];
    case 'session.reopened':
    case 'session.completed':
    case 'session.stuck':
    case 'session.interrupted':
    case 'session.cancelled':
      return ['permission', 'idle'];
    case 'task.claimed':
    case 'task.restarted':
    case 'task.resumed':
    case 'task.queued':
    case 'task.paused':
    case 'task.cancelled':
    case 'task.deleted':
      return ['stuck', 'needs_attention', 'review', 'failed'];
    default:
      return [];
  }
}

/** What was told lately and what waits to be told. Times are of a clock that only goes forward. */
export interface Announcing {
  readonly toldMs: ReadonlyMap<string, number>;
  readonly sentMs: readonly number[];
  readonly waiting: readonly Occasion[];
}

export const nothingTold: Announcing = { toldMs: new Map(), sentMs: [], waiting: [] };

export function withOccasion(state: Announcing, occasion: Occasion): Announcing {
  const others = state.waiting.filter((one) => keyOf(one) !== keyOf(occasion));
  return { ...state, waiting: [...others, occasion] };
}

/** A queue stands still: told when it is due, and once, whatever further reasons for it come up meanwhile. */
export function withStall(
  state: Announcing,
  about: Pick<Occasion, 'task' | 'title' | 'reason' | 'at'>,
  stall: NonNullable<Occasion['stall']>,
): Announcing {
  const before = state.waiting.find((one) => one.stall?.queue === stall.queue);
  const dueMs = Math.min(before?.stall?.dueMs ?? Infinity, stall.dueMs);
  const kind = 'stalled' as const;
  const reason = firstLine(about.reason);
  const occasion = { ...about, kind, reason, command: 'copse queue', stall: { ...stall, dueMs } };
  return withOccasion(withMoving(state, stall.queue), occasion);
}

export function withMoving(state: Announcing, queue: BranchName): Announcing {
  return { ...state, waiting: state.waiting.filter((one) => one.stall?.queue !== queue) };
}

export function withSettled(state: Announcing, task: TaskId, kinds: readonly NoticeKind[]): Announcing {
  const isSettled = (one: Occasion) => one.task === task && kinds.includes(one.kind);
  return { ...state, waiting: state.waiting.filter((one) => !isSettled(one)) };
}

export interface Announcement {
  readonly notices: readonly Notice[];
  readonly state: Announcing;
  /** When to ask again although nothing happened, or null. */
  readonly againMs: number | null;
}

/** `isLast`: nobody will ask again, so nothing waits any longer. */
export function decideNotices(
  state: Announcing,
  nowMs: number,
  policy: Pick<Policy['notifications'], 'repeatMs' | 'burst' | 'burstMs'>,
  { isLast = false }: { readonly isLast?: boolean } = {},
): Announcement {
  const toldMs = new Map([...state.toldMs].filter(([, at]) => nowMs - at < policy.repeatMs));
  const sentMs = state.sentMs.filter((at) => nowMs - at < policy.burstMs);
  const isDue = (one: Occasion) =>
    (isLast || !toldMs.has(keyOf(one))) && (one.stall?.dueMs ?? nowMs) <= nowMs;
  const due = state.waiting.filter(isDue);
  const early = state.waiting.filter((one) => !isDue(one));
  const room = policy.burst - sentMs.length;
  const dueAgain = early.map((one) =>
    Math.max((toldMs.get(keyOf(one)) ?? -Infinity) + policy.repeatMs, one.stall?.dueMs ?? -Infinity),
  );
  if (due.length === 0 || (room <= 0 && !isLast)) {
    const roomAgain = due.length === 0 ? [] : [(sentMs[0] ?? nowMs) + policy.burstMs];
    return {
      notices: [],
      state: { toldMs, sentMs, waiting: state.waiting },
      againMs: earliest([...dueAgain, ...roomAgain]),
    };
  }
  const notices = due.length <= room ? due.map(noticeOfOne) : [noticeOfAll(due)];
  for (const one of due) toldMs.set(keyOf(one), nowMs);
  return {
    notices,
    state: { toldMs, sentMs: [...sentMs, ...notices.map(() => nowMs)], waiting: early },
    againMs: earliest(dueAgain),
  };
}

function keyOf({ task, kind }: Occasion): string {
  return `${task} ${kind}`;
}

function earliest(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.min(...times);
}

/** In the order of urgency: what one task is, and what several are. */
const words: Readonly<Record<NoticeKind, readonly [one: string, several: string]>> = {
  failed: ['failed', 'failed'],
  permission: ['asks for permission', 'ask for permission'],
  stuck: ['is stuck', 'are stuck'],
  needs_attention: ['needs attention', 'need attention'],
  review: ['waits for your review', 'wait for your review'],
  stalled: ['waits in a queue that does not move', 'wait in queues that do not move'],
  idle: ['waits for you', 'wait for you'],
  landed: ['is done', 'are done'],
};

function noticeOfOne(one: Occasion): Notice {
  return {
    headline: `${one.task} ${words[one.kind][0]}: ${shown(one.title)}`,
    text: one.reason,
    command: one.command,
    isUrgent: isUrgent(one),
    about: [one],
  };
}

function noticeOfAll(all: readonly Occasion[]): Notice {
  const [only, ...others] = all;
  if (only !== undefined && others.length === 0) return noticeOfOne(only);
  const kinds = Object.keys(words) as readonly NoticeKind[];
  const lines = kinds.flatMap((kind) => {
    const tasks = all.filter((one) => one.kind === kind).map(({ task }) => task);
    if (tasks.length === 0) return [];
    const [one, several] = words[kind];
    return [`${named(tasks)} ${tasks.length === 1 ? one : several}`];
  });
  const tasks = new Set(all.map(({ task }) => task)).size;
  return {
    headline: tasks === 1 ? `${all[0]?.task ?? ''}: news` : `News of ${tasks} tasks`,
    text: lines.join('\n'),
    command: 'copse list',
    isUrgent: all.some(isUrgent),
    about: all,
  };
}

/** Whatever is not only good to know. */
function isUrgent({ kind }: Occasion): boolean {
  return kind !== 'landed';
}

/** Safe to show, and short enough for a corner of a screen. */
function firstLine(text: string): string {
  const line = shown((text.trim().split(/[\n\r]/, 1)[0] ?? '').trim());
  const longest = defaultPolicy.notifications.reasonLength;
  if (line.length <= longest) return line;
  // Not in the middle of a character.
  return `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
