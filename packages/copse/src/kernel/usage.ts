/** What a conversation costs: tokens as the vendor counts them, and dollars where it says so. Always added up by Copse. */

export interface Usage {
  /** Tokens read anew. */
  readonly input: number;
  /** Tokens read from or written to the vendor's cache. */
  readonly cached: number;
  readonly output: number;
  /** Null when the vendor does not say. */
  readonly dollars: number | null;
}

export const noUsage: Usage = { input: 0, cached: 0, output: 0, dollars: null };

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    cached: one.cached + other.cached,
    output: one.output + other.output,
    dollars: one.dollars === null ? other.dollars : one.dollars + (other.dollars ?? 0),
  };
}

/** The difference of two totals. A total that is smaller than before began to count anew. */
export function usageSince(total: Usage, before: Usage): Usage {
  const since = (now: number, then: number) => (now >= then ? now - then : now);
  return {
    input: since(total.input, before.input),
    cached: since(total.cached, before.cached),
    output: since(total.output, before.output),
    dollars: total.dollars === null ? null : since(total.dollars, before.dollars ?? 0),
  };
}

export function tokensOf({ input, cached, output }: Usage): number {
  return input + cached + output;
}

export function isNothing(usage: Usage): boolean {
  return tokensOf(usage) === 0 && (usage.dollars ?? 0) === 0;
}
