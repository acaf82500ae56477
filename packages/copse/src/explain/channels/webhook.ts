/**
 * Notices posted to an address as JSON. The whole address is a secret, as those of chat programs are: messages about a
 * failure name only the host, and errors of `fetch`, which quote the address, only by their code.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import type { Notice } from '../rules/notice.ts';
import type { NoticeChannel, NoticeResult } from '../notices/port.ts';
import { noticeView } from './notice-view.ts';
import { whyUnreachable } from '../../kernel/system/fetch-failure.ts';

export interface WebhookOptions {
  readonly timeoutMs: number;
  /** The delay before the only retry. */
  readonly againMs: number;
}

export function webhookChannel(address: string, options: WebhookOptions): NoticeChannel {
  return { name: 'webhook', send: (notice, givenUp) => send(new URL(address), notice, givenUp, options) };
}

async function send(
  address: URL,
  notice: Notice,
  givenUp: AbortSignal,
  { timeoutMs, againMs }: WebhookOptions,
): Promise<NoticeResult> {
  const first = await post(address, notice, givenUp, timeoutMs);
  if (first === null) return { kind: 'sent' };
  if (first.isFinal) return unsent(address, first);
  await sleep(againMs, undefined, { signal: givenUp }).catch(() => {});
  if (givenUp.aborted) return unsent(address, first);
  const second = await post(address, notice, givenUp, timeoutMs);
  return second === null ? { kind: 'sent' } : unsent(address, second);
}

interface DeliveryFailure {
  readonly why: string;
  /** A retry would fail too. */
  readonly isFinal: boolean;
}

async function post(
  address: URL,
  notice: Notice,
  givenUp: AbortSignal,
  timeoutMs: number,
): Promise<DeliveryFailure | null> {
  const { url, authorization } = withoutCredentials(address);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'copse', ...authorization },
      body: JSON.stringify(noticeView(notice)),
      // A redirect could carry the notice to another host.
      redirect: 'manual',
      signal: AbortSignal.any([givenUp, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    if (response.ok) return null;
    const { status } = response;
    return { why: `it answered ${status}`, isFinal: status < 500 && status !== 429 };
  } catch (error) {
    return { why: whyUnreachable(error, timeoutMs), isFinal: givenUp.aborted };
  }
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

function unsent({ protocol, host }: URL, { why }: DeliveryFailure): NoticeResult {
  return { kind: 'failed', reason: `The webhook at ${protocol}//${host}/… was not notified: ${why}.` };
}
