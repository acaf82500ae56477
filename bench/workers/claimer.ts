/** Claims one task per transaction for as long as it is told, and says which. */

import type { BoardAddress } from '../../packages/copse/src/board/open.ts';
import { claimNext } from '../../packages/copse/src/tasks/act/claims.ts';
import { claimRequest, contextOf, openDurably } from '../boards.ts';
import { say } from '../processes.ts';

export interface ClaimFor {
  readonly ms: number;
}

export interface Claimed {
  readonly ids: readonly string[];
  /** There was nothing left to claim, so the time says nothing. */
  readonly ranOut: boolean;
}

const address = JSON.parse(process.argv[2]!) as BoardAddress;
const board = await openDurably(address);
const context = contextOf(board);
const request = claimRequest(String(process.pid));

process.on('message', (asked: ClaimFor) => {
  claim(asked).then(say, (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
say({ ids: [], ranOut: false });

async function claim({ ms }: ClaimFor): Promise<Claimed> {
  const ids: string[] = [];
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs) {
    const task = await claimNext(context, request);
    if (task === undefined) return { ids, ranOut: true };
    ids.push(task.id);
  }
  return { ids, ranOut: false };
}
