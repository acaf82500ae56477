/** What fifteen agents write, at a rate: tasks that are added, worked on and landed, one event in a transaction. */

import { setTimeout as sleep } from 'node:timers/promises';

import type { Board } from '../../packages/copse/src/board/port.ts';
import type { BoardEvent } from '../../packages/copse/src/board/rules/event.ts';
import { type NodeId, brand } from '../../packages/copse/src/kernel/ids.ts';
import { ends, eventsOf } from '../../test/support/records/stories.ts';

const AGENTS = 15;

export interface Rate {
  readonly seconds: number;
  readonly perSecond: number;
  /** A letter; tasks of two floods have different ids. */
  readonly name: string;
}

/** Resolves with how many a second it were. */
export async function writeLives(board: Board, { seconds, perSecond, name }: Rate): Promise<number> {
  const events = sideBySide(name);
  const beganMs = performance.now();
  const count = seconds * perSecond;
  for (let written = 0; written < count; written += 1) {
    const dueMs = beganMs + (written * 1_000) / perSecond;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    const event = events.next().value;
    await board.transact((change) => change.record({ kind: 'person', name: null }, [event]));
  }
  return (count * 1_000) / (performance.now() - beganMs);
}

/** Each agent begins its next task when the last one has landed. */
function* sideBySide(name: string): Generator<BoardEvent, never> {
  const lives: BoardEvent[][] = Array.from({ length: AGENTS }, () => []);
  for (let task = 0; ;) {
    for (const life of lives) {
      if (life.length === 0) {
        task += 1;
        life.push(...lifeOf(`${name}${task.toString(36).padStart(3, '0')}`, task));
      }
      const next = life.shift();
      if (next !== undefined) yield next;
    }
  }
}

function lifeOf(id: string, task: number): readonly BoardEvent[] {
  const story = { id, title: `Live part ${task} of the page`, minutes: 0, end: ends.landed };
  return eventsOf(story, Date.now(), brand<NodeId>('n-bench'));
}
