/**
 * Notifications: which events people are told of, in which words, and how often.
 *
 *   event → occasion (a kind, a task, a reason, the command to run) → notice (about one occasion, or about several)
 *
 * An occasion may have to wait:
 * - the same kind about the same task is sent at most once in `repeatMs`; a later one replaces the one that waits;
 * - at most `burst` notices are sent in `burstMs`; further occasions wait and are sent together as one notice.
 * No occasion is dropped for coming too early, but one that is settled while it waits (answered, restarted, cancelled)
 * is not sent. A stalled queue is reported after `landing.stallMs`, about the task that has waited longest.
 */

import type { BoardEvent, EventType } from '../../board/rules/event.ts';
import type { BranchName, TaskId, Timestamp } from '../../kernel/ids.ts';
import { type Policy, defaultPolicy } from '../../kernel/policy.ts';
import { type PullRequest, summarise } from '../../review/rules/pull-request.ts';
import { named, shown } from '../../kernel/text.ts';
import {
  attentionText,
  doneText,
  failedText,
  sentence,
  firstLine as statusLine,
  statusTexts,
} from './status.ts';

export type NoticeKind = (typeof defaultPolicy.notifications.events)[number];

/** An event that a person should hear of. */
export interface Occasion {
  readonly kind: NoticeKind;
  readonly task: TaskId;
  readonly title: string;
  readonly reason: string;
  /** The command that deals with it. */
  readonly command: string;
  readonly at: Timestamp;
  /** Of a stalled queue: which, and when to report it. */
  readonly stall?: { readonly queue: BranchName; readonly dueMs: number };
}

/** What is sent. */
export interface Notice {
  readonly headline: string;
  readonly text: string;
  readonly command: string;
  /** A person has to act. */
  readonly isUrgent: boolean;
  readonly about: readonly Occasion[];
}

/** Every type of event that `occasionOf` or `settledBy` handles. */
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
  'task.failed',
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

/** `leftQueue`: why it went from the queue back to review. */
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
      return occasion('permission', `${firstLine(tool)}: ${what.trim()}`, `answer ${task}`);
    }
    case 'session.attention':
      return event.attention === null
        ? undefined
        : occasion(event.attention, event.message ?? '', `why ${task}`);
    case 'task.stuck':
      return occasion('stuck', event.reason, `restart ${task}${event.isByCopse ? '' : ' --answer "…"'}`);
    case 'task.failed':
      return occasion('failed', event.reason, `why ${task}`);
    case 'task.needs_attention':
      // Another task resolves it.
      if (event.resolver !== undefined) return undefined;
      return occasion('needs_attention', attentionText(event), `why ${task}`);
    case 'task.sent_to_review':
      return event.pullRequest === null
        ? occasion('review', leftQueue ?? sentence(statusTexts.in_review), `review ${task}`)
        : undefined;
    case 'task.pull_request_changed':
      return needsPerson(event.pullRequest)
        ? occasion('needs_attention', summarise(event.pullRequest), `why ${task}`)
        : undefined;
    case 'task.crashed':
      return event.delay === null
        ? occasion('failed', sentence(failedText(event.retries, statusLine(event.reason))), `why ${task}`)
        : undefined;
    case 'task.done':
      return occasion('landed', sentence(doneText(event)), `show ${task}`);
    default:
      return undefined;
  }
}

/** A reviewer asked for changes or closed it, or Copse gave up opening it. */
function needsPerson(pullRequest: PullRequest): boolean {
  const isSentBack = pullRequest.is === 'open' && pullRequest.review === 'changes_requested';
  return isSentBack || pullRequest.is === 'closed' || pullRequest.is === 'given_up';
}

/** Which kinds of notices about the event's task are out of date after it. */
export function settledBy(event: BoardEvent): readonly NoticeKind[] {
  switch (event.type) {
    case 'session.attention':
      return event.attention === null ? ['idle'] : [];
    case 'session.answered':
      return ['permission', 'idle'];
    // The agent goes on; one of its helpers may still wait for a permission.
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

/** What was sent lately and what waits to be sent. Times are of a monotonic clock. */
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

/** A stalled queue is reported once, when it is due, even if its reason changes meanwhile. */
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
  /** When to decide again without a further event, or null. */
  readonly againMs: number | null;
}

/** `isLast`: there is no later decision, so occasions that repeat too early are sent too. */
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

/** In the order of urgency: the words for one task, and for several. */
const words: Readonly<Record<NoticeKind, readonly [one: string, several: string]>> = {
  failed: ['failed', 'failed'],
  permission: ['asks for permission', 'ask for permission'],
  stuck: ['is stuck', 'are stuck'],
  needs_attention: ['needs attention', 'need attention'],
  review: ['waits for your review', 'wait for your review'],
  stalled: ['waits in a stalled queue', 'wait in stalled queues'],
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

function isUrgent({ kind }: Occasion): boolean {
  return kind !== 'landed';
}

/** Without control characters, and short enough for a desktop notification. */
function firstLine(text: string): string {
  const line = shown((text.trim().split(/[\n\r]/, 1)[0] ?? '').trim());
  const longest = defaultPolicy.notifications.reasonLength;
  if (line.length <= longest) return line;
  // Never half of a surrogate pair.
  return `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
