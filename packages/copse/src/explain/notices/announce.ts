/**
 * Tells people what happens while an orchestrator runs: it follows the board from its own start, and sends what
 * `decideNotices` says, through every channel.
 *
 * Each is told once. Of several nodes on a board, the one where the task ran last tells it: that is the machine of whoever
 * looks after it. Of several orchestrators on a node, the one that has the lock tells it; another takes over within a look
 * of the first one's end, and would rather repeat the last seconds than leave something out.
 *
 * Sending goes on beside the looks and holds up nothing.
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

type AnnounceContext = Pick<RunContext, 'board' | 'clock' | 'git' | 'node' | 'policy'>;

export interface AnnounceOptions {
  readonly after: EventNumber;
  /** What is over then is still told. */
  readonly signal: AbortSignal;
  readonly kinds: readonly NoticeKind[];
  readonly channels: readonly NoticeChannel[];
  readonly onProblem: (reason: string) => void;
}

/** Until the signal; never rejects. */
export async function announce(context: AnnounceContext, options: AnnounceOptions): Promise<void> {
  const { board, clock, git, policy } = context;
  const { signal, onProblem } = options;
  if (options.channels.length === 0 || options.kinds.length === 0) return;
  const announcer = new Announcer(context, options);
  do {
    try {
      const seen = await board.lastEvent();
      if ((await git.tryLock('notices', () => announcer.follow())) !== undefined) return;
      announcer.leaveOut(seen);
    } catch (error) {
      // A board that is out of reach for a moment: the next look goes on from where this one was.
      onProblem(error instanceof Error ? error.message : String(error));
    }
    await clock.sleep(policy.board.followPollMs, signal);
  } while (!signal.aborted);
}

class Announcer {
  readonly #context: AnnounceContext;
  readonly #options: AnnounceOptions;
  readonly #sending = new Set<Promise<void>>();
  readonly #givingUp = new AbortController();
  /** What was told once is not told for every notice. */
  readonly #problems = new Set<string>();
  #after: EventNumber;
  #state: Announcing = nothingTold;

  constructor(context: AnnounceContext, options: AnnounceOptions) {
    this.#context = context;
    this.#options = options;
    this.#after = options.after;
  }

  /** Somebody else tells everything up to this. */
  leaveOut(until: EventNumber): void {
    if (until > this.#after) this.#after = until;
  }

  async follow(): Promise<void> {
    const { board, clock, policy } = this.#context;
    const { signal } = this.#options;
    let woken = new AbortController();
    const subscription = await board.onChange(() => woken.abort());
    try {
      await this.#findStalls();
      for (;;) {
        // Before the look: whatever happens during it wakes the next one.
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
    for await (const recorded of eventsSoFar(board, { after: this.#after, types: noticedTypes })) {
      await this.#hear(recorded);
      this.#after = recorded.number;
    }
    const { notices, state, againMs } = decideNotices(this.#state, clock.elapsedMs(), policy.notifications, {
      isLast,
    });
    this.#state = state;
    for (const notice of notices) this.#send(notice);
    return againMs;
  }

  async #hear({ event, by }: RecordedEvent): Promise<void> {
    const { board } = this.#context;
    if (event.type === 'queue.moving') this.#state = withMoving(this.#state, event.id);
    if (event.type === 'queue.stalled' && this.#isAbout(by)) await this.#stall(event.id, event);
    const isOfTask = event.type.startsWith('task.');
    const id = isOfTask ? (event.id as TaskId) : (await board.get('session', event.id))?.task;
    if (id === undefined) return;
    this.#state = withSettled(this.#state, id, settledBy(event));
    const task = await board.get('task', id);
    const isReview = event.type === 'task.sent_to_review';
    // A person who took it out of the queue knows that.
    if (task === undefined || (isReview && by.kind === 'person')) return;
    const occasion = occasionOf(event, task, isReview ? await whyItLeftNow(board, event) : null);
    if (occasion === undefined || !this.#options.kinds.includes(occasion.kind)) return;
    if (await this.#isOurs(id, by)) this.#state = withOccasion(this.#state, occasion);
  }

  /** Of several nodes the one that leads the queue. */
  #isAbout(by: RecordedEvent['by']): boolean {
    return by.kind !== 'node' || by.node === this.#context.node;
  }

  /** About the task that waits there for longest. */
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

  /** What stood still already when this began. */
  async #findStalls(): Promise<void> {
    for (const { id, stalled } of await this.#context.board.list('queue'))
      if (stalled !== null) await this.#stall(id, { at: stalled.since, reason: stalled.reason });
  }

  /** Where nobody knows where it ran, everybody tells it rather than nobody. */
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
    const sent = await channel.send(notice, this.#givingUp.signal);
    if (!sent.sent) this.#problem(sent.reason);
  }

  #problem(reason: string): void {
    if (this.#problems.has(reason)) return;
    this.#problems.add(reason);
    this.#options.onProblem(reason);
  }

  /** What is on its way gets a moment to arrive. */
  async #settle(): Promise<void> {
    const { clock, policy } = this.#context;
    const arrived = new AbortController();
    const all = Promise.all(this.#sending).then(() => arrived.abort());
    await clock.sleep(policy.notifications.lastMs, arrived.signal);
    this.#givingUp.abort();
    await all;
  }
}
