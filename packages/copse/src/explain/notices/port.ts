/** The ways to a person who is not looking: each takes a notice, in a time that has an end. */

import type { Notice } from '../rules/notice.ts';

export interface NoticeChannel {
  readonly name: 'desktop' | 'bell' | 'webhook';
  /** Never rejects: that somebody could not be told is told to whoever watches. Ends soon after it is given up. */
  send(notice: Notice, givenUp: AbortSignal): Promise<Sent>;
}

/** The reason is for a person, and safe to print: no part of an address that could be a secret. */
export type Sent = { readonly sent: true } | { readonly sent: false; readonly reason: string };
