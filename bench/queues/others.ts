/** How others do it: one after another, batches that are bisected, and a window of guesses. */

import { type Outcome, Record, type World } from './world.ts';

/** Each on top of the last, checked, and once more when it is red. */
export function oneAfterAnother(world: World): Outcome {
  const record = new Record(world);
  let nowMs = 0;
  for (let change = 0; change < world.settings.branches; change += 1) {
    nowMs = Math.max(nowMs, world.arrivesMs[change]!);
    if (!world.merges(record.target, change)) {
      record.handBack(change, 'conflict', nowMs);
      continue;
    }
    let isGreen = false;
    for (let times = 0; times < 2 && !isGreen; times += 1) {
      nowMs += world.settings.checkMs;
      isGreen = world.check([...record.target, change]);
    }
    if (isGreen) record.land([change], nowMs);
    else record.handBack(change, 'checks', nowMs);
  }
  return record.outcome();
}

const BATCH = 8;

/** The next few together; a red batch is bisected before anything else goes on. More slots do not help it. */
export function batchAndBisect(world: World): Outcome {
  const record = new Record(world);
  let nowMs = 0;
  const waiting = Array.from({ length: world.settings.branches }, (_, at) => at);
  const land = (changes: readonly number[], isKnownRed: boolean): void => {
    if (changes.length === 0) return;
    if (!isKnownRed) {
      nowMs += world.settings.checkMs;
      if (world.check([...record.target, ...changes])) return record.land(changes, nowMs);
    }
    if (changes.length === 1) {
      nowMs += world.settings.checkMs;
      if (world.check([...record.target, ...changes])) record.land(changes, nowMs);
      else record.handBack(changes[0]!, 'checks', nowMs);
      return;
    }
    const middle = Math.ceil(changes.length / 2);
    land(changes.slice(0, middle), false);
    land(changes.slice(middle), false);
  };
  while (waiting.length > 0) {
    nowMs = Math.max(nowMs, world.arrivesMs[waiting[0]!]!);
    const batch: number[] = [];
    for (let at = 0; at < waiting.length && batch.length < BATCH;) {
      const change = waiting[at]!;
      if (world.arrivesMs[change]! > nowMs) break;
      if (world.merges([...record.target, ...batch], change)) {
        batch.push(change);
        waiting.splice(at, 1);
      } else if (world.merges(record.target, change)) at += 1;
      else {
        record.handBack(change, 'conflict', nowMs);
        waiting.splice(at, 1);
      }
    }
    land(batch, false);
  }
  return record.outcome();
}

interface Guess {
  readonly change: number;
  readonly below: readonly number[];
  readonly endsMs: number;
  readonly isGreen: boolean;
  readonly times: number;
}

/** As many as there are slots, each on top of those before it; what is behind a red one begins again. */
export function windowOfGuesses(world: World): Outcome {
  const record = new Record(world);
  const { slots, checkMs, branches } = world.settings;
  const waiting = Array.from({ length: branches }, (_, at) => at);
  let window: Guess[] = [];
  let nowMs = 0;
  const begin = (change: number, times: number): Guess => {
    const below = [...record.target, ...window.map((guess) => guess.change)];
    const isGreen = world.check([...below, change]);
    return { change, below, endsMs: nowMs + checkMs, isGreen, times };
  };
  while (!record.isOver) {
    while (window.length < slots && waiting.length > 0 && world.arrivesMs[waiting[0]!]! <= nowMs) {
      const change = waiting.shift()!;
      if (!world.merges(record.target, change)) record.handBack(change, 'conflict', nowMs);
      else if (world.merges([...record.target, ...window.map((guess) => guess.change)], change))
        window.push(begin(change, 1));
      else {
        waiting.unshift(change);
        break;
      }
    }
    const [head] = window;
    if (head === undefined) {
      if (waiting.length === 0) break;
      nowMs = Math.max(nowMs, world.arrivesMs[waiting[0]!]!);
      continue;
    }
    nowMs = Math.max(nowMs, head.endsMs);
    if (head.isGreen) {
      record.land([head.change], nowMs);
      window.shift();
      continue;
    }
    const behind = window.slice(1).map(({ change }) => change);
    window = [];
    if (head.times < 2) window.push(begin(head.change, head.times + 1));
    else record.handBack(head.change, 'checks', nowMs);
    waiting.unshift(...behind);
  }
  return record.outcome();
}
