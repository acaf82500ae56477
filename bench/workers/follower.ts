/** Follows a board as `copse events --follow` does and says when it saw each event. */

import { setTimeout as sleep } from 'node:timers/promises';

import type { BoardAddress } from '../../packages/copse/src/board/open.ts';
import { followEvents } from '../../packages/copse/src/board/follow.ts';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import { openDurably } from '../boards.ts';
import { say } from '../processes.ts';

/** Answered with the share of one core used while nothing happened. */
export interface IdleFor {
  readonly ms: number;
}

export type Followed =
  | { readonly saw: number; readonly atNs: string }
  | { readonly coreShare: number }
  | { readonly ready: true };

process.on('message', (asked: IdleFor) => {
  void coreShareWhileIdle(asked).then((coreShare) => say({ coreShare } satisfies Followed));
});

const address = JSON.parse(process.argv[2]!) as BoardAddress;
const board = await openDurably(address);
const after = await board.lastEvent();
const { signal } = new AbortController();
say({ ready: true } satisfies Followed);
for await (const { number } of followEvents(board, { after, signal, policy: defaultPolicy.board })) {
  // The monotonic clock is one for all processes.
  say({ saw: number, atNs: String(process.hrtime.bigint()) } satisfies Followed);
}

async function coreShareWhileIdle({ ms }: IdleFor): Promise<number> {
  const before = process.cpuUsage();
  await sleep(ms);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / ms;
}
