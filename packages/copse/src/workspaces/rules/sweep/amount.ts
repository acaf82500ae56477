/** How much a sweep is about, in words and in bytes. */

import { type SweepItem, type SweptKind, sweptKinds } from './things.ts';

/** `51 worktrees, branches and logs`, `1 branch`. */
export function amountOf(items: readonly SweepItem[]): string {
  if (items.length === 0) return 'nothing';
  const kinds = sweptKinds.filter((kind) => items.some(({ found }) => found.kind === kind));
  const [last = '', ...others] = kinds.map((kind) => words[kind][items.length === 1 ? 0 : 1]).toReversed();
  const all = others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
  return `${items.length} ${all}`;
}

const words: Readonly<Record<SweptKind, readonly [one: string, several: string]>> = {
  worktree: ['worktree', 'worktrees'],
  branch: ['branch', 'branches'],
  trash: ['trash entry', 'trash entries'],
  session: ['transcript', 'transcripts'],
  logs: ['log', 'logs'],
  artifacts: ['artifact folder', 'artifact folders'],
  snapshot: ['snapshot', 'snapshots'],
  record: ['record', 'records'],
};

/** Things that were not measured count as nothing. */
export function bytesOf(items: readonly SweepItem[]): number {
  return items.reduce((bytes, item) => bytes + (item.bytes ?? 0), 0);
}
