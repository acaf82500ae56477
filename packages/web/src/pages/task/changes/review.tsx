/** Files at the left, differences at the right, the answer of the person below. */

import { lazy, Suspense, useEffect, useRef, useState } from 'react';

import { counted, shown as safe } from '../../../../../copse/src/kernel/text.ts';
import { Loading } from '../../../parts/page-state.tsx';
import { useKeys } from '../../../parts/keys.ts';
import type { ShownTask } from '../page.tsx';
import taskStyles from '../task.module.css';
import { Answer } from './answer.tsx';
import styles from './changes.module.css';
import { useComments } from './comments.tsx';
import type { DiffViewHandle } from './diff-view.tsx';
import { FileTree } from './file-tree.tsx';
import { isViewed, useKept, withViewed } from './kept.ts';
import type { Pages, ReviewPage, ReviewedChange } from './pages.ts';
import type { FilePatch } from './patch.ts';
import { Mismatch, Warnings } from './warnings.tsx';

/** Asked for together with the patch, which takes the server about as long. */
const diffView = import('./diff-view.tsx');
// The page below says what went wrong.
diffView.catch(() => {});
const DiffView = lazy(() => diffView);

interface ReviewProps {
  readonly task: ShownTask;
  readonly shown: ReviewPage;
  readonly change: ReviewedChange;
  readonly latest: ReviewPage;
  readonly pages: Pages;
  readonly since: string | undefined;
  /** The commit that the person was shown last. */
  readonly readHead: string;
  readonly movedTo: string | null;
  readonly onSince: (since: string | undefined) => void;
  readonly onNewest: () => void;
  /** Asks for the commit of the branch again. */
  readonly onLook: () => void;
}

const FIRST_DRAWING_MS = 100;

export function Review(props: ReviewProps) {
  const { task, shown, change, latest, pages, since, readHead, movedTo, onSince, onNewest, onLook } = props;
  const { kept, keep } = useKept(task.id);
  const [selected, setSelected] = useState(change.files[0]?.path);
  const view = useRef<DiffViewHandle>(null);
  /** Chosen before the view was there. */
  const waiting = useRef<string>(undefined);
  const isWide = useIsWide();
  const { head } = change;
  const { patches, mismatch } = pages;
  const current = patches.find(({ file }) => file.path === selected);
  const viewedCount = patches.filter((patch) => isViewed(kept, patch)).length;
  const select = (path: string) => {
    setSelected(path);
    if (view.current === null) waiting.current = path;
    view.current?.show(path);
  };
  const setView = (handle: DiffViewHandle | null) => {
    view.current = handle;
    const path = waiting.current;
    if (handle === null || path === undefined) return;
    waiting.current = undefined;
    // After its first drawing, which measures the files.
    setTimeout(() => view.current?.show(path), FIRST_DRAWING_MS);
  };
  const mark = (patch: FilePatch) => keep((now) => withViewed(now, patch, !isViewed(now, patch)));
  const comments = useComments({
    task: task.id,
    change,
    patches,
    show: (path, place) => {
      setSelected(path);
      view.current?.show(path, place);
    },
  });
  const move = (by: 1 | -1) => {
    const next = patches[patches.findIndex(({ file }) => file.path === selected) + by];
    if (next !== undefined) select(next.file.path);
  };
  useKeys('Changes', [
    { keys: ['j'], does: 'Next file', run: () => move(1), isMove: true },
    { keys: ['k'], does: 'File before', run: () => move(-1), isMove: true },
    { keys: ['v'], does: 'Viewed, or not', run: () => current && mark(current) },
    { keys: ['c'], does: 'Comment on a line', run: () => current && comments.write(current) },
  ]);
  return (
    <div className={styles.review}>
      <div className={styles.bar}>
        <p>
          {`${counted(change.files.length, 'file')}, +${change.inserted} -${change.deleted} at `}
          <code title={head}>{head.slice(0, 10)}</code>
          {latest.target !== null && ` for ${safe(latest.target)}`}
          {` · ${viewedCount} viewed`}
        </p>
        {(since !== undefined || shown.lastReviewed !== null) && (
          <fieldset className={styles.choice}>
            <legend>Show</legend>
            <button type="button" aria-pressed={since === undefined} onClick={() => onSince(undefined)}>
              All changes
            </button>
            <button
              type="button"
              aria-pressed={since !== undefined}
              onClick={() => onSince(since ?? shown.lastReviewed ?? undefined)}
            >
              Since the last review
            </button>
          </fieldset>
        )}
        {current && (
          <div className={styles.choice}>
            <button
              type="button"
              aria-pressed={isViewed(kept, current)}
              title="Key: v"
              onClick={() => mark(current)}
            >
              Viewed
            </button>
            <button type="button" title="Key: c" onClick={() => comments.write(current)}>
              Comment on a line
            </button>
          </div>
        )}
      </div>
      {movedTo !== null && (
        <p className={styles.moved} role="alert">
          {`The branch is at ${movedTo.slice(0, 10)} now. You read ${readHead.slice(0, 10)}.`}{' '}
          <button type="button" className={taskStyles.button} onClick={onNewest}>
            {head === movedTo ? 'Go on with the new commit' : 'Show the new commit'}
          </button>
        </p>
      )}
      {mismatch !== null && <Mismatch task={task.id} mismatch={mismatch} />}
      <Warnings task={task.id} latest={latest} patches={patches} />
      <div className={styles.columns}>
        <FileTree files={change.files} patches={patches} kept={kept} selected={selected} onSelect={select} />
        <section className={styles.diff} aria-label="Differences">
          <Suspense fallback={<Loading what="the differences" />}>
            <DiffView
              ref={setView}
              patches={patches}
              notes={comments.notes}
              isSplit={isWide}
              renderNote={comments.renderNote}
              renderHeader={(patch) => (
                <FileMarks
                  patch={patch}
                  isViewed={isViewed(kept, patch)}
                  onViewed={() => mark(patch)}
                  onComment={() => comments.write(patch)}
                />
              )}
              collapsed={(patch) => isViewed(kept, patch) && kept.open?.anchor.path !== patch.file.path}
              onPlace={comments.writeAt}
            />
          </Suspense>
        </section>
      </div>
      {pages.hasMore && (
        <p className={styles.moreFiles}>
          {pages.problem === undefined
            ? `${counted(pages.missing, 'file')} not read yet.`
            : pages.problem.message}{' '}
          <button type="button" className={taskStyles.button} onClick={pages.more}>
            Read more of the patch
          </button>
        </p>
      )}
      <Answer
        task={task}
        head={head}
        canApprove={mismatch === null && head === readHead}
        apart={comments.apart}
        onLook={onLook}
      />
    </div>
  );
}

function FileMarks({
  patch,
  isViewed: isNow,
  onViewed,
  onComment,
}: {
  readonly patch: FilePatch;
  readonly isViewed: boolean;
  readonly onViewed: () => void;
  readonly onComment: () => void;
}) {
  return (
    <span className={styles.marks}>
      {patch.kind !== null && <span>{patch.kind}</span>}
      {patch.isBinary && <span>binary</span>}
      <button type="button" aria-pressed={isNow} aria-label={`Viewed: ${patch.name}`} onClick={onViewed}>
        {isNow ? '✓ Viewed' : 'Viewed'}
      </button>
      <button type="button" aria-label={`Comment on a line of ${patch.name}`} onClick={onComment}>
        Comment
      </button>
    </span>
  );
}

function useIsWide(): boolean {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const onChange = () => setWide(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isWide;
}

const WIDE = '(min-width: 1200px)';
