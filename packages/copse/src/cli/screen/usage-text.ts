/** What was used, in few characters. Dollars that nobody knows are never shown as none. */

import { type Usage, tokensOf } from '../../kernel/usage.ts';

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
