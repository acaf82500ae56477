/** A way to notify a person: the desktop, the terminal's bell, a webhook. */

import type { Notice } from '../rules/notice.ts';

export interface NoticeChannel {
  readonly name: 'desktop' | 'bell' | 'webhook';
  /** Never rejects, and ends soon after the signal. */
  send(notice: Notice, givenUp: AbortSignal): Promise<NoticeResult>;
}

/** The reason is safe to print: it holds no part of an address that could be a secret. */
export type NoticeResult = { readonly kind: 'sent' } | { readonly kind: 'failed'; readonly reason: string };
