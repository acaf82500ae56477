/**
 * Sends notifications while an orchestrator or a runner works, and once at the end of a command that reports for a person:
 * follows the board from its start, and sends the notices of `decideNotices` through every channel.
 *
 * Each notice is sent at most once. Of several machines, the one where the task ran last sends it. Of several processes on a
 * machine, the holder of the lock sends. It remembers the last event in a file before it sends; another takes over there,
 * within one poll after the first ends, and before its own end.
 *
 * Sending is not awaited, so that a slow channel delays nothing.
 */

import { waitText } from '../rules/queue.ts';
import type { StoredWaitReason } from '../../queue/rules/wait-reason.ts';
import type { RecordedEvent } from '../../board/rules/event.ts';
import type { BranchName, EventNumber, TaskId, Timestamp } from '../../kernel/ids.ts';
import {
  type Announcing,
  type Notice,
  type NoticeKind,
  decideNotices,
  noticedTypes,
  nothingTold,
  occasionOf,
  settledBy,
  withMoving,
  withOccasion,
  withSettled,
  withStall,
} from '../rules/notice.ts';
import type { NoticeChannel } from './port.ts';
import { eventsSoFar } from '../../board/events-so-far.ts';
import { whyItLeftNow } from '../../queue/act/last-landing.ts';
import type { RunContext } from '../../queue/context.ts';

export type AnnounceContext = Pick<RunContext, 'board' | 'clock' | 'git' | 'node' | 'policy'>;

/** What the announcers of a machine have sent: under their lock, and from one to the next. */
interface ToldSoFar {
  /** The board that the number belongs to. */
  readonly board: string;
  readonly event: EventNumber;
  /** Since when each queue was stalled that people heard of. */
  readonly stalls: Readonly<Record<string, Timestamp>>;
}

export interface NoticeMemory {
  load(): ToldSoFar | undefined;
  save(told: ToldSoFar): void;
}

export interface AnnounceOptions {
  /** Earlier events are not sent. */
  readonly after: EventNumber;
  readonly memory: NoticeMemory;
  /** Events recorded before it are still sent. */
  readonly signal: AbortSignal;
  readonly kinds: readonly NoticeKind[];
  readonly channels: readonly NoticeChannel[];
  readonly onProblem: (reason: string) => void;
}

/** Runs until the signal; never rejects. */
export async function announce(context: AnnounceContext, options: AnnounceOptions): Promise<void> {
  const { clock, git, policy } = context;
  const { signal, onProblem } = options;
  if (options.channels.length === 0 || options.kinds.length === 0) return;
  const announcer = new Announcer(context, options);
  for (;;) {
    const isLast = signal.aborted;
    try {
      if ((await git.tryLock('notices', () => announcer.follow())) !== undefined) return;
    } catch (error) {
      // The board may be unreachable for a moment: the next poll continues from the same event.
      onProblem(error instanceof Error ? error.message : String(error));
    }
    if (isLast) return;
    await clock.sleep(policy.board.followPollMs, signal);
  }
}

class Announcer {
  readonly #context: AnnounceContext;
  readonly #options: AnnounceOptions;
  readonly #sending = new Set<Promise<void>>();
  readonly #givingUp = new AbortController();
  /** Each problem is reported once, not for every notice. */
  readonly #problems = new Set<string>();
  #after: EventNumber;
  #stalls: Readonly<Record<string, Timestamp>> = {};
  #state: Announcing = nothingTold;

  constructor(context: AnnounceContext, options: AnnounceOptions) {
    this.#context = context;
    this.#options = options;
    this.#after = options.after;
  }

  /** Another process has sent everything up to the event that it remembered. */
  async #recall(): Promise<void> {
    const { board } = this.#context;
    const told = this.#options.memory.load();
    // A board that was put back counts its events from there.
    if (told?.board !== board.location || told.event > (await board.lastEvent())) return;
    this.#stalls = told.stalls;
    if (told.event > this.#after) this.#after = told.event;
  }

  /** Before it is sent: after a kill, a notice is missing rather than repeated. */
  #remember(): void {
    const { location: board } = this.#context.board;
    this.#options.memory.save({ board, event: this.#after, stalls: this.#stalls });
  }

  async follow(): Promise<void> {
    const { board, clock, policy } = this.#context;
    const { signal } = this.#options;
    let woken = new AbortController();
    const subscription = await board.onChange(() => woken.abort());
    try {
      await this.#recall();
      await this.#findStalls();
      for (;;) {
        // Before the poll: an event recorded during it starts the next one.
        woken = new AbortController();
        const isLast = signal.aborted;
        const againMs = await this.#look(isLast);
        if (isLast) break;
        const untilAgain = againMs === null ? Infinity : Math.max(0, againMs - clock.elapsedMs());
        const waitMs = Math.min(untilAgain, policy.board.followPollMs);
        await clock.sleep(waitMs, AbortSignal.any([signal, woken.signal]));
        await clock.sleep(policy.notifications.gatherMs, signal);
      }
    } finally {
      await subscription.stop();
    }
    await this.#settle();
  }

  async #look(isLast: boolean): Promise<number | null> {
    const { board, clock, policy } = this.#context;
    const before = this.#after;
    for await (const recorded of eventsSoFar(board, { after: this.#after, types: noticedTypes })) {
      await this.#hear(recorded);
      this.#after = recorded.number;
    }
    const { notices, state, againMs } = decideNotices(this.#state, clock.elapsedMs(), policy.notifications, {
      isLast,
    });
    this.#state = state;
    for (const { stall, at } of notices.flatMap(({ about }) => about))
      if (stall !== undefined) this.#stalls = { ...this.#stalls, [stall.queue]: at };
    if (this.#after > before || notices.length > 0) this.#remember();
    for (const notice of notices) this.#send(notice);
    return againMs;
  }

  async #hear({ event, by }: RecordedEvent): Promise<void> {
    const { board } = this.#context;
    if (event.type === 'queue.moving') this.#state = withMoving(this.#state, event.id);
    if (event.type === 'queue.stalled' && this.#isOurQueue(by)) await this.#stall(event.id, event);
    const isOfTask = event.type.startsWith('task.');
    const id = isOfTask ? (event.id as TaskId) : (await board.get('session', event.id))?.task;
    if (id === undefined) return;
    this.#state = withSettled(this.#state, id, settledBy(event));
    const task = await board.get('task', id);
    const isReview = event.type === 'task.sent_to_review';
    // A person who took it out of the queue needs no notice.
    if (task === undefined || (isReview && by.kind === 'person')) return;
    const occasion = occasionOf(event, task, isReview ? await whyItLeftNow(board, event) : null);
    if (occasion === undefined || !this.#options.kinds.includes(occasion.kind)) return;
    if (await this.#isOurs(id, by)) this.#state = withOccasion(this.#state, occasion);
  }

  /** Of several machines, the one that leads the queue. */
  #isOurQueue(by: RecordedEvent['by']): boolean {
    return by.kind !== 'node' || by.node === this.#context.node;
  }

  /** About the task that has waited longest. */
  async #stall(
    queue: BranchName,
    { at, reason }: { readonly at: Timestamp; readonly reason: StoredWaitReason },
  ) {
    const { board, clock, policy } = this.#context;
    const oldest = (await board.openLandings()).find(({ target }) => target === queue);
    const task = oldest && (await board.get('task', oldest.task));
    if (task === undefined || !this.#options.kinds.includes('stalled')) return;
    const dueMs = clock.elapsedMs() + policy.landing.stallMs - (clock.now() - at);
    const about = { task: task.id, title: task.title, reason: waitText(reason), at };
    this.#state = withStall(this.#state, about, { queue, dueMs });
  }

  /** Queues that were stalled before this began, and that no other process has told of. */
  async #findStalls(): Promise<void> {
    for (const { id, stalled } of await this.#context.board.list('queue'))
      if (stalled !== null && this.#stalls[id] !== stalled.since)
        await this.#stall(id, { at: stalled.since, reason: stalled.reason });
  }

  /** A task that never ran is reported by the machine that recorded the event, or by all. */
  async #isOurs(task: TaskId, by: RecordedEvent['by']): Promise<boolean> {
    const { board, node } = this.#context;
    const ran = (await board.list('attempt', { task })).at(-1)?.node;
    const at = ran ?? (await board.list('workspace', { task })).at(-1)?.node;
    return (at ?? (by.kind === 'node' ? by.node : node)) === node;
  }

  #send(notice: Notice): void {
    for (const channel of this.#options.channels) {
      const sending = this.#sendBy(channel, notice);
      this.#sending.add(sending);
      void sending.finally(() => this.#sending.delete(sending));
    }
  }

  async #sendBy(channel: NoticeChannel, notice: Notice): Promise<void> {
    const result = await channel.send(notice, this.#givingUp.signal);
    if (result.kind === 'failed') this.#problem(result.reason);
  }

  #problem(reason: string): void {
    if (this.#problems.has(reason)) return;
    this.#problems.add(reason);
    this.#options.onProblem(reason);
  }

  /** Notices that are being sent get a moment to arrive. */
  async #settle(): Promise<void> {
    const { clock, policy } = this.#context;
    const arrived = new AbortController();
    const all = Promise.all(this.#sending).then(() => arrived.abort());
    await clock.sleep(policy.notifications.lastMs, arrived.signal);
    this.#givingUp.abort();
    await all;
  }
}
