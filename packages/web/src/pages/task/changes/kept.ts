/** What this browser keeps about a review: which files were viewed, and comments that are not sent yet. */

import { useCallback, useSyncExternalStore } from 'react';

import type { LineComment } from '../../../../../copse/src/review/rules/line-comments.ts';
import type { FilePatch } from './patch.ts';

export interface Draft {
  readonly id: string;
  /** The commit whose line it is. */
  readonly head: string;
  readonly comment: LineComment;
}

interface Kept {
  /** Content key by path: a file that changed is not viewed any more. */
  readonly viewed: Readonly<Record<string, string>>;
  readonly drafts: readonly Draft[];
  readonly comment: string;
}

const NOTHING: Kept = { viewed: {}, drafts: [], comment: '' };

const known = new Map<string, Kept>();
const listeners = new Set<() => void>();

export function useKept(task: string): readonly [Kept, (change: Partial<Kept>) => void] {
  const kept = useSyncExternalStore(subscribe, () => read(task));
  const change = useCallback((part: Partial<Kept>) => write(task, { ...read(task), ...part }), [task]);
  return [kept, change];
}

export function isViewed({ viewed }: Kept, { file, contentKey }: FilePatch): boolean {
  return Object.hasOwn(viewed, file.path) && viewed[file.path] === contentKey;
}

/** The other files keep their marks. */
export function withViewed(kept: Kept, { file, contentKey }: FilePatch, isNow: boolean): Partial<Kept> {
  const others = Object.entries(kept.viewed).filter(([path]) => path !== file.path);
  return { viewed: Object.fromEntries(isNow ? [...others, [file.path, contentKey]] : others) };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const keyOf = (task: string) => `copse.review.${task}`;

function read(task: string): Kept {
  const now = known.get(task) ?? stored(task);
  known.set(task, now);
  return now;
}

/** What another version wrote may have another shape. */
function stored(task: string): Kept {
  try {
    const { viewed, drafts, comment } = JSON.parse(
      localStorage.getItem(keyOf(task)) ?? '{}',
    ) as Partial<Kept>;
    return { viewed: viewed ?? {}, drafts: Array.isArray(drafts) ? drafts : [], comment: comment ?? '' };
  } catch {
    return NOTHING;
  }
}

function write(task: string, kept: Kept): void {
  known.set(task, kept);
  try {
    localStorage.setItem(keyOf(task), JSON.stringify(kept));
  } catch {
    // Without room in the browser, it is kept until this tab closes.
  }
  for (const listener of listeners) listener();
}
