/**
 * When the main checkout is looked at: as an attempt begins and as it ends. All attempts of a node share what was last seen,
 * so a change is told once, with everybody who was running since the look before.
 *
 * What changed while nobody was running is a person's work and nobody's business.
 */

import type { CheckoutState } from '../rules/escape.ts';
import type { CommitId, EventNumber, SessionId, TaskId } from '../../kernel/ids.ts';
import type { BoardReader } from '../../board/port.ts';
import type { Timer } from '../../kernel/clock.ts';
import { type GuardContext, beginGuard, checkGuard } from './escape-guard.ts';

/** What was last seen, how far the board was then, who had begun by then, and which files were told about already. */
interface SeenCheckout {
  readonly state: CheckoutState;
  readonly after: EventNumber;
  readonly running: readonly SessionId[];
  readonly told: readonly string[];
}

export interface CheckoutMemory {
  load(): SeenCheckout | undefined;
  save(seen: SeenCheckout): void;
}

export interface WatchContext extends GuardContext {
  readonly clock: Timer;
  readonly mainGitDir: string | null;
  readonly checkoutMemory: CheckoutMemory;
}

interface Own {
  readonly session: SessionId;
  readonly task: TaskId;
}

export async function lookAtCheckout(
  context: WatchContext,
  moment: 'begin' | 'end',
  own: Own,
): Promise<void> {
  // Never while a landing is bringing the checkout along: half of that would look like somebody's doing.
  await lookAlone(context, async () => {
    const { board, checkoutMemory } = context;
    const before = checkoutMemory.load();
    const after = await board.lastEvent();
    const others = (await stillRunning(context, before)).filter((session) => session !== own.session);
    const running = moment === 'begin' ? [...others, own.session] : others;
    if (before === undefined || (moment === 'begin' && others.length === 0)) {
      checkoutMemory.save({ state: await beginGuard(context), after, running, told: [] });
      return;
    }
    const { state, escape } = await checkGuard(context, before.state, {
      expectedHeads: await landedSince(board, before.after),
      // Who has only been claimed has not done anything yet.
      among: others,
      ended: moment === 'end' ? [own] : [],
      // A file that goes on changing, such as somebody's log, is told about once.
      told: before.told,
    });
    const told = [...new Set([...before.told, ...(escape?.paths ?? [])])];
    checkoutMemory.save({ state, after, running, told });
  });
}

/** With the lock of whoever moves the checkout along. Without it, the next look sees what this one would have. */
async function lookAlone(context: WatchContext, look: () => Promise<void>): Promise<void> {
  const { git, clock, mainGitDir } = context;
  const name = mainGitDir?.split('/').at(-1);
  const { patienceMs, lookEveryMs } = context.policy.escape;
  for (let waitedMs = 0; waitedMs <= patienceMs; waitedMs += lookEveryMs) {
    if (name === undefined || (await git.tryLock(`task-${name}`, look))) return;
    await clock.sleep(lookEveryMs);
  }
}

/** Sessions that had begun at the last look and still hold their tasks. */
async function stillRunning(
  { board, node }: WatchContext,
  before: SeenCheckout | undefined,
): Promise<readonly SessionId[]> {
  const held = await board.held();
  const sessions = held.flatMap(({ task }) => {
    const claim = task.state.status === 'in_progress' ? task.state.claim : undefined;
    return claim?.node === node && !claim.isByHand ? [claim.session] : [];
  });
  return sessions.filter((session) => before?.running.includes(session));
}

const EVENTS_AT_ONCE = 1_000;

/** Commits that Copse itself brought the checkout to. */
async function landedSince(board: BoardReader, from: EventNumber): Promise<readonly CommitId[]> {
  // What was journalled before the last look may have moved since it, and be recorded as landed after this one.
  const open = await board.openLandings();
  const commits: CommitId[] = open.flatMap(({ state }) =>
    'intent' in state && state.intent ? [state.intent.newTip] : [],
  );
  for (let after = from; ;) {
    const page = await board.events({ after, limit: EVENTS_AT_ONCE });
    for (const { event } of page) {
      if (event.type === 'landing.landed') commits.push(event.commit);
      // It moves before that is recorded.
      if (event.type === 'landing.journalled') commits.push(event.intent.newTip);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < EVENTS_AT_ONCE) return commits;
    after = last.number;
  }
}
