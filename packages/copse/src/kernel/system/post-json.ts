/**
 * JSON posted to an address that a person chose. The whole address is a secret, as those of chat programs are: a failure names
 * only the host, and errors of `fetch`, which quote the address, only by their code. The answer is not read.
 */

export interface DeliveryFailure {
  readonly why: string;
  /** A retry would fail too. */
  readonly isFinal: boolean;
}

/** Null: it was taken. */
export async function postJson(
  address: URL,
  body: string,
  { timeoutMs, givenUp }: { readonly timeoutMs: number; readonly givenUp?: AbortSignal },
): Promise<DeliveryFailure | null> {
  const { url, authorization } = withoutCredentials(address);
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'copse', ...authorization },
      body,
      // A redirect could carry it to another host.
      redirect: 'manual',
      signal: givenUp === undefined ? late : AbortSignal.any([givenUp, late]),
    });
    await response.body?.cancel();
    if (response.ok) return null;
    const { status } = response;
    return { why: `it answered ${status}`, isFinal: status < 500 && status !== 429 };
  } catch (error) {
    return { why: whyUnreachable(error, timeoutMs), isFinal: givenUp?.aborted ?? false };
  }
}

/** For messages: the host, and nothing of the path. */
export function hiddenAddress({ protocol, host }: URL): string {
  return `${protocol}//${host}/…`;
}

/** `fetch` refuses addresses with a password. */
function withoutCredentials(address: URL): {
  readonly url: URL;
  readonly authorization: Readonly<Record<string, string>>;
} {
  const url = new URL(address);
  const { username, password } = url;
  if (username === '' && password === '') return { url, authorization: {} };
  url.username = '';
  url.password = '';
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url, authorization: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } };
}

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
