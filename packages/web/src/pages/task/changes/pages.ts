/** The patch of a change, page by page. */

import { useCallback, useMemo, useState } from 'react';

import type { OutputOf } from '../../../api/operations.ts';
import { Problem } from '../../../api/problem.ts';
import { useDesk } from '../../../store/hooks.tsx';
import { type SplitPatch, splitPatch } from './patch.ts';

export type ReviewPage = OutputOf<'review.show'>;
export type ReviewedChange = NonNullable<ReviewPage['change']>;

export interface Pages extends SplitPatch {
  readonly hasMore: boolean;
  readonly problem: Problem | undefined;
  readonly more: () => void;
}

interface Further {
  readonly of: ReviewPage;
  readonly text: string;
  readonly cursor: string | null;
  readonly problem?: Problem;
}

export function usePages(task: string, first: ReviewPage, since: string | undefined): Pages {
  const { client } = useDesk();
  const [further, setFurther] = useState<Further>();
  const now: Further =
    further?.of === first ? further : { of: first, text: first.patch ?? '', cursor: first.cursor };
  const { text, cursor, problem } = now;
  const more = useCallback(() => {
    if (cursor === null) return;
    client
      .call('review.show', { task, lossy: true, after: cursor, ...(since !== undefined && { since }) })
      .then(
        (page) => setFurther({ of: first, text: text + (page.patch ?? ''), cursor: page.cursor }),
        (error: unknown) => {
          if (error instanceof Problem) setFurther({ of: first, text, cursor, problem: error });
        },
      );
  }, [client, task, since, first, text, cursor]);
  const split = useMemo(
    () => splitPatch(text, first.change?.files ?? [], cursor === null),
    [text, first, cursor],
  );
  return { ...split, hasMore: cursor !== null, problem, more };
}
