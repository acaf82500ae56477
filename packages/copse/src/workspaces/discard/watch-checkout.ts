/**
 * Looks at the main checkout when an attempt begins and when it ends. The attempts of a machine share the last look, so that
 * a change is reported once, with every session that ran since then.
 *
 * A change made while no session ran is a person's own and is not reported.
 */

import type { CheckoutState } from '../rules/escape.ts';
import type { CommitId, EventNumber, SessionId, TaskId } from '../../kernel/ids.ts';
import { eventsSoFar } from '../../board/events-so-far.ts';
import type { BoardReader } from '../../board/port.ts';
import type { Timer } from '../../kernel/clock.ts';
import { type GuardContext, beginGuard, checkGuard } from './escape-guard.ts';

/** The last look: the checkout, the board's last event, the sessions that ran, and the files reported so far. */
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

interface WatchContext extends GuardContext {
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
  // Never while a landing moves the checkout: half of that would look like an escape.
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
      // A session that has only claimed its task has changed nothing.
      among: others,
      ended: moment === 'end' ? [own] : [],
      // A file that keeps changing, a log for example, is reported once.
      told: before.told,
    });
    const told = [...new Set([...before.told, ...(escape?.paths ?? [])])];
    checkoutMemory.save({ state, after, running, told });
  });
}

/** Under the lock of landings that move the checkout. If it stays held, the next look sees the same changes. */
async function lookAlone(context: WatchContext, look: () => Promise<void>): Promise<void> {
  const { git, clock, mainGitDir } = context;
  const name = mainGitDir?.split('/').at(-1);
  const { patienceMs, lookEveryMs } = context.policy.escape;
  for (let waitedMs = 0; waitedMs <= patienceMs; waitedMs += lookEveryMs) {
    if (name === undefined || (await git.tryLock(`task-${name}`, look))) return;
    await clock.sleep(lookEveryMs);
  }
}

/** Sessions that ran at the last look and still hold their tasks. */
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

/** Commits that landings moved the checkout to. */
async function landedSince(board: BoardReader, from: EventNumber): Promise<readonly CommitId[]> {
  // A landing journalled before the last look may have moved the checkout since, and be recorded after this look.
  const open = await board.openLandings();
  const commits: CommitId[] = open.flatMap(({ state }) =>
    'intent' in state && state.intent ? [state.intent.newTip] : [],
  );
  const types = ['landing.landed', 'landing.journalled'] as const;
  for await (const { event } of eventsSoFar(board, { after: from, types })) {
    if (event.type === 'landing.landed') commits.push(event.commit);
    // The checkout moves before the landing is recorded.
    if (event.type === 'landing.journalled') commits.push(event.intent.newTip);
  }
  return commits;
}
