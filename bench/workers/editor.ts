/** An agent that tells of its work on one task, in a process of its own as real ones are: it edits the title again and again. */

import { setTimeout as sleep } from 'node:timers/promises';

import type { BoardAddress } from '../../packages/copse/src/board/open.ts';
import { type TaskId, brand } from '../../packages/copse/src/kernel/ids.ts';
import { editTask } from '../../packages/copse/src/tasks/act/tasks.ts';
import { contextOf, openDurably } from '../boards.ts';
import { say } from '../processes.ts';

export interface EditFor {
  readonly ms: number;
  readonly everyMs: number;
}

export interface Edited {
  /** When each edit was on the board, by the time of day. */
  readonly writtenAt: readonly number[];
}

const [address = '', task = '', name = ''] = process.argv.slice(2);
const board = await openDurably(JSON.parse(address) as BoardAddress);
const context = contextOf(board);
const id: TaskId = brand(task);

process.on('message', (asked: EditFor) => {
  edit(asked).then(say, (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
say({ writtenAt: [] } satisfies Edited);

async function edit({ ms, everyMs }: EditFor): Promise<Edited> {
  const writtenAt: number[] = [];
  const untilMs = performance.now() + ms;
  for (;;) {
    // Not all agents at once.
    await sleep(everyMs * (0.5 + Math.random()));
    if (performance.now() > untilMs) return { writtenAt };
    const outcome = await editTask(context, id, { title: `${name} at step ${writtenAt.length}` });
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
    writtenAt.push(Date.now());
  }
}
