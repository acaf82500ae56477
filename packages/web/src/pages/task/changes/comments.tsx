/** Comments on lines: those of a review that are not sent yet, and the one that is written now. */

import { type ReactNode, useRef, useState } from 'react';

import { shownPath } from '../../../../../copse/src/kernel/text.ts';
import { useToast } from '../../../parts/toasts.tsx';
import { CommentForm, DraftNote } from './comment.tsx';
import type { Note } from './diff-view.tsx';
import type { Draft, OpenComment } from './kept-reviews.ts';
import { useKept } from './kept.ts';
import type { ReviewedChange } from './pages.ts';
import type { FilePatch } from './patch.ts';
import { type LinePlace, firstPlace } from './places.ts';

interface CommentsProps {
  readonly task: string;
  readonly change: Pick<ReviewedChange, 'head' | 'from'>;
  readonly patches: readonly FilePatch[];
  readonly show: (path: string, place?: LinePlace) => void;
}

export interface Comments {
  readonly notes: readonly Note[];
  readonly renderNote: (key: string) => ReactNode;
  /** Opens a form at the first changed line of a file. */
  readonly write: (patch: FilePatch) => void;
  readonly writeAt: (place: LinePlace) => void;
  /** What no line that is shown has. */
  readonly apart: { readonly form: ReactNode; readonly drafts: readonly Draft[] };
}

const OPEN = 'open';

export function useComments({ task, change, patches, show }: CommentsProps): Comments {
  const { kept, keep } = useKept(task);
  const toast = useToast();
  const [asks, setAsks] = useState(0);
  const focused = useRef(0);
  const { open, drafts } = kept;
  const drawn = drafts.filter((draft) => isDrawn(draft, change, patches));
  const isOpenDrawn = open !== null && hasLines(patches, open.anchor.path);
  const form = () => open !== null && <CommentForm key={OPEN} {...{ task, change, asks, focused }} />;
  const begin = (place: LinePlace, isFar: boolean) => {
    const { head, from } = change;
    if (open !== null && open.text.trim() !== '' && !isSame(open, place)) {
      const { path, line } = open.place;
      const text = `Your comment on ${shownPath(path)} line ${line} is not added yet: add it or leave it first.`;
      toast({ text, isProblem: true });
      show(path, open.anchor);
    } else {
      const next = { place, anchor: place, head, from };
      keep((now) => ({ open: { ...next, text: now.open?.text ?? '' } }));
      if (isFar) show(place.path, place);
    }
    setAsks((count) => count + 1);
  };
  return {
    notes: [
      ...drawn.map(({ id, comment: { path, line, endLine = line, side = 'new' } }) => ({
        key: id,
        place: { path, line, endLine, side },
      })),
      ...(isOpenDrawn ? [{ key: OPEN, place: open.anchor }] : []),
    ],
    renderNote: (key) => {
      if (key === OPEN) return form();
      const draft = drafts.find(({ id }) => id === key);
      return draft === undefined ? null : <DraftNote {...{ draft, keep }} />;
    },
    write: (patch) => begin(firstPlace(patch), true),
    writeAt: (place) => begin(place, false),
    apart: { form: isOpenDrawn ? null : form(), drafts: drafts.filter((draft) => !drawn.includes(draft)) },
  };
}

function isSame({ anchor, place }: OpenComment, other: LinePlace): boolean {
  return [anchor, place].some(
    ({ path, endLine, side }) => path === other.path && endLine === other.endLine && side === other.side,
  );
}

/** The same line of another commit can be another text. Lines before the change are those of what it was compared with. */
function isDrawn(
  { head, from, comment: { path, side } }: Draft,
  change: Pick<ReviewedChange, 'head' | 'from'>,
  patches: readonly FilePatch[],
): boolean {
  return head === change.head && (side !== 'old' || from === change.from) && hasLines(patches, path);
}

function hasLines(patches: readonly FilePatch[], path: string): boolean {
  return patches.some(({ file, hunks }) => file.path === path && hunks.length > 0);
}
