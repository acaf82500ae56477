/** Boards of any size with tasks in every state, for pages that must stay fluent. */

import { type Story, ends, oneOfEach } from './stories.ts';

const ways = [
  undefined,
  ends.landed,
  ends.landed,
  ends.running,
  undefined,
  ends.landed,
  ends.cancelled,
  undefined,
  ends.landed,
  undefined,
] as const;

/** One of each first; of the others few run, most are ready or done. */
export function manyStories(count: number): readonly Story[] {
  const others = Array.from({ length: Math.max(0, count - oneOfEach.length) }, (_, index): Story => {
    const way = ways[index % ways.length];
    const end = way === ends.running && index > 100 ? ends.landed : way;
    return {
      id: `x${index.toString(36).padStart(4, '0')}`,
      title: `Make part ${index} of the page load without a second request`,
      minutes: 10 + index,
      ...(end && { end }),
    };
  });
  return [...oneOfEach, ...others].slice(0, count);
}
