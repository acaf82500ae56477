/**
 * The JSON that a webhook gets. `text` has everything for people, under the name that chat programs read: text of agents in it
 * calls no person and leads nowhere. `about` has the words as they were written, for programs.
 */

import { unlinked } from '../../kernel/text.ts';
import type { Notice, NoticeKind } from '../rules/notice.ts';

export interface NoticeView {
  readonly kind: NoticeKind | 'several' | 'test';
  readonly text: string;
  readonly headline: string;
  readonly command: string;
  readonly isUrgent: boolean;
  readonly about: readonly {
    readonly kind: NoticeKind;
    readonly task: string;
    readonly title: string;
    readonly reason: string;
    readonly command: string;
    readonly at: string;
  }[];
}

export function noticeView({ headline, text, command, isUrgent, about }: Notice): NoticeView {
  const [only, ...others] = about;
  return {
    kind: only === undefined ? 'test' : others.length === 0 ? only.kind : 'several',
    text: unlinked([headline, text, command].filter((line) => line !== '').join('\n')),
    headline: unlinked(headline),
    command,
    isUrgent,
    about: about.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
  };
}
