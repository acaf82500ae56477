/** Why `fetch` got no answer, as the end of a sentence about an address. */
export function whyUnreachable(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'it cannot be reached';
  if (error.name === 'AbortError') return 'Copse stopped before it answered';
  if (error.name === 'TimeoutError') return `it did not answer within ${timeoutMs / 1_000} s`;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause
    ? `it cannot be reached (${String(cause.code)})`
    : 'it cannot be reached';
}
