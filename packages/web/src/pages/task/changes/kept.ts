/** What this browser keeps about a review: which files were viewed, and comments that are not sent yet. */

import { useCallback, useSyncExternalStore } from 'react';

import { type KeptReview, KeptReviews } from './kept-reviews.ts';
import type { FilePatch } from './patch.ts';

export type ChangeKept = (how: (now: KeptReview) => Partial<KeptReview>) => void;

interface KeptHere {
  readonly kept: KeptReview;
  readonly keep: ChangeKept;
  /** False: the browser has no room for it. */
  readonly isSaved: boolean;
}

const reviews = new KeptReviews(() => localStorage);
const listeners = new Set<() => void>();

function tellAll(): void {
  for (const listener of listeners) listener();
}

export function useKept(task: string): KeptHere {
  const kept = useSyncExternalStore(subscribe, () => reviews.read(task));
  const isSaved = useSyncExternalStore(subscribe, () => reviews.isSaved(task));
  const keep = useCallback<ChangeKept>(
    (how) => {
      reviews.change(task, how);
      tellAll();
    },
    [task],
  );
  return { kept, keep, isSaved };
}

/** Another tab of this browser can change it too. */
function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('storage', tellAll);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('storage', tellAll);
  };
}

export function isViewed({ viewed }: KeptReview, { file, contentKey }: FilePatch): boolean {
  return Object.hasOwn(viewed, file.path) && viewed[file.path] === contentKey;
}

/** The other files keep their marks. */
export function withViewed(
  { viewed }: KeptReview,
  { file, contentKey }: FilePatch,
  isNow: boolean,
): Partial<KeptReview> {
  const others = Object.entries(viewed).filter(([path]) => path !== file.path);
  return { viewed: Object.fromEntries(isNow ? [...others, [file.path, contentKey]] : others) };
}
