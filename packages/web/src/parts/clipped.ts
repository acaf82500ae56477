/** Text of people and agents for a page, which is slow to lay out a megabyte. The command line prints all of it. */

import { shown } from '../../../copse/src/kernel/text.ts';

const MOST = 20_000;

export function clipped(text: string): string {
  const more = text.length - MOST;
  return more <= 0 ? shown(text) : `${shown(text.slice(0, MOST))}\n… and ${more} more characters`;
}

const MOST_IN_LINE = 400;

/** For a line that has room for some words. */
export function brief(text: string): string {
  return text.length <= MOST_IN_LINE ? shown(text) : `${shown(text.slice(0, MOST_IN_LINE))} …`;
}
