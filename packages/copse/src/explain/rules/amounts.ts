/** How long, how often and how much, in few characters; and the name of an agent in a sentence. */

import type { Timestamp } from '../../kernel/ids.ts';
import { type Usage, tokensOf } from '../../kernel/usage.ts';

export function age(since: Timestamp, now: Timestamp): string {
  const seconds = Math.max(0, Math.floor((now - since) / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Any word can be the name of an agent, `mine` too. */
export function agentNamed(name: string): string {
  return `Agent "${name}"`;
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Unknown dollars are never shown as zero. */
export function usageText(usage: Usage): string {
  const price = usage.dollars === null ? 'dollars unknown' : dollarsText(usage.dollars);
  return `${tokensText(tokensOf(usage))} tokens, ${price}`;
}

/** `950`, `12.3k`, `4.6M`: at most six characters up to a thousand million. */
export function tokensText(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  const thousands = tokens / 1_000;
  return thousands < 999.95 ? `${thousands.toFixed(1)}k` : `${(thousands / 1_000).toFixed(1)}M`;
}

export function dollarsText(dollars: number): string {
  const isTiny = dollars > 0 && dollars < 0.005;
  return isTiny ? '<$0.01' : `$${dollars.toFixed(2)}`;
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** `0 B`, `96 KB`, `1.2 GB`: at most seven characters. */
export function sizeText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  for (; amount >= 999.5 && unit < UNITS.length - 1; unit += 1) amount /= 1024;
  const digits = unit > 0 && amount < 9.95 ? 1 : 0;
  return `${amount.toFixed(digits)} ${UNITS[unit]}`;
}

export function megabytesText(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`;
}
