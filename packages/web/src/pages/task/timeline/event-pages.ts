/** The events of a task as they are read: the newest page again and again, earlier pages when a person asks. Pure. */

export interface Numbered {
  readonly number: number;
  readonly type: string;
}

/** What was read before, with the newest page as it is now. `isFull`: events before this page are not in it. */
export function withNewest<E extends Numbered>(
  known: readonly E[],
  page: readonly E[],
  isFull: boolean,
): readonly E[] {
  const [first, last] = [page[0], known.at(-1)];
  // More came between two looks than a page has: what is missing there must not look as if nothing had happened.
  const hasGap = isFull && first !== undefined && last !== undefined && last.number < first.number;
  return hasGap ? page : merged(known, page);
}

/** In the order of their numbers, each once. */
export function merged<E extends Numbered>(one: readonly E[], other: readonly E[]): readonly E[] {
  const all = new Map([...one, ...other].map((event) => [event.number, event]));
  return [...all.values()].toSorted((a, b) => a.number - b.number);
}

/** Whether earlier events may be there. `start`: the first event, once a look before it found none. */
export function hasEarlier(known: readonly Numbered[], start: number | undefined): boolean {
  const [first] = known;
  return first !== undefined && first.type !== 'task.created' && first.number !== start;
}
