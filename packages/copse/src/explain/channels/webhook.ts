/** Notices posted to an address as JSON, with one retry. The address is a secret: see kernel/system/post-json.ts. */

import { setTimeout as sleep } from 'node:timers/promises';

import type { Notice } from '../rules/notice.ts';
import type { NoticeChannel, NoticeResult } from '../notices/port.ts';
import { noticeView } from './notice-view.ts';
import { type DeliveryFailure, hiddenAddress, postJson } from '../../kernel/system/post-json.ts';

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

function post(
  address: URL,
  notice: Notice,
  givenUp: AbortSignal,
  timeoutMs: number,
): Promise<DeliveryFailure | null> {
  return postJson(address, JSON.stringify(noticeView(notice)), { timeoutMs, givenUp });
}

function unsent(address: URL, { why }: DeliveryFailure): NoticeResult {
  return { kind: 'failed', reason: `The webhook at ${hiddenAddress(address)} was not notified: ${why}.` };
}
