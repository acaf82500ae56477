/** Files at the left, differences at the right, the answer of the person below. */

import { lazy, Suspense, useEffect, useRef, useState } from 'react';

import { counted, shown as safe } from '../../../../../copse/src/kernel/text.ts';
import { Loading } from '../../../parts/page-state.tsx';
import { isTyping } from '../../../parts/keys.ts';
import type { ShownTask } from '../page.tsx';
import taskStyles from '../task.module.css';
import { Answer } from './answer.tsx';
import styles from './changes.module.css';
import { CommentForm, DraftNote } from './comment.tsx';
import type { DiffViewHandle, Note, Place } from './diff-view.tsx';
import { FileTree } from './file-tree.tsx';
import { isViewed, useKept, withViewed } from './kept.ts';
import type { Pages, ReviewPage, ReviewedChange } from './pages.ts';
import type { FilePatch } from './patch.ts';

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
  readonly movedTo: string | null;
  readonly onSince: (since: string | undefined) => void;
  readonly onNewest: () => void;
  /** Asks for the commit of the branch again. */
  readonly onLook: () => void;
}

const NEW = 'new';
const FIRST_DRAWING_MS = 100;

export function Review(props: ReviewProps) {
  const { task, shown, change, latest, pages, since, movedTo, onSince, onNewest, onLook } = props;
  const [kept, keep] = useKept(task.id);
  const [writing, setWriting] = useState<Place>();
  const [selected, setSelected] = useState(change.files[0]?.path);
  const view = useRef<DiffViewHandle>(null);
  /** Chosen before the view was there. */
  const waiting = useRef<string>(undefined);
  const isWide = useIsWide();
  const { head } = change;
  const { patches } = pages;
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
  const mark = (patch: FilePatch) => keep(withViewed(kept, patch, !isViewed(kept, patch)));
  const write = (patch: FilePatch) =>
    setWriting({
      path: patch.file.path,
      line: 1,
      endLine: 1,
      side: patch.file.change === 'deleted' ? 'old' : 'new',
    });
  useFileKeys({
    onMove: (by) => {
      const at = patches.findIndex(({ file }) => file.path === selected);
      const next = patches[at + by];
      if (next !== undefined) select(next.file.path);
    },
    onViewed: () => current && mark(current),
    onComment: () => current && write(current),
  });
  const notes: readonly Note[] = [
    ...kept.drafts.map(({ id, comment: { path, line, endLine = line, side = 'new' } }) => ({
      key: id,
      place: { path, line, endLine, side },
    })),
    ...(writing === undefined ? [] : [{ key: NEW, place: writing }]),
  ];
  const renderNote = (key: string) => {
    const draft = kept.drafts.find(({ id }) => id === key);
    if (draft !== undefined)
      return (
        <DraftNote
          draft={draft}
          onRemove={() => keep({ drafts: kept.drafts.filter(({ id }) => id !== key) })}
        />
      );
    if (writing === undefined) return null;
    return (
      <CommentForm
        place={writing}
        onPlace={setWriting}
        onCancel={() => setWriting(undefined)}
        onText={(text) => {
          const { path, line, endLine, side } = writing;
          const comment = { path, line, ...(endLine !== line && { endLine }), side, text };
          keep({ drafts: [...kept.drafts, { id: crypto.randomUUID(), head, comment }] });
          setWriting(undefined);
        }}
      />
    );
  };
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
            <button type="button" title="Key: c" onClick={() => write(current)}>
              Comment on a line
            </button>
          </div>
        )}
      </div>
      {movedTo !== null && (
        <p className={styles.moved} role="alert">
          {`The branch is at ${movedTo.slice(0, 10)} now. You read ${head.slice(0, 10)}.`}{' '}
          <button type="button" className={taskStyles.button} onClick={onNewest}>
            Show the new commit
          </button>
        </p>
      )}
      <Warnings latest={latest} />
      <div className={styles.columns}>
        <FileTree files={change.files} patches={patches} kept={kept} selected={selected} onSelect={select} />
        <section className={styles.diff} aria-label="Differences">
          <Suspense fallback={<Loading what="the differences" />}>
            <DiffView
              ref={setView}
              patches={patches}
              notes={notes}
              isSplit={isWide}
              renderNote={renderNote}
              renderHeader={(patch) => (
                <FileMarks
                  patch={patch}
                  isViewed={isViewed(kept, patch)}
                  onViewed={() => mark(patch)}
                  onComment={() => write(patch)}
                />
              )}
              collapsed={(patch) => isViewed(kept, patch) && writing?.path !== patch.file.path}
              onPlace={setWriting}
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
      <Answer task={task} head={head} kept={kept} keep={keep} onLook={onLook} />
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
      {patch.text === null && <span>binary</span>}
      <button type="button" aria-pressed={isNow} aria-label={`Viewed: ${patch.name}`} onClick={onViewed}>
        {isNow ? '✓ Viewed' : 'Viewed'}
      </button>
      <button type="button" aria-label={`Comment on a line of ${patch.name}`} onClick={onComment}>
        Comment
      </button>
    </span>
  );
}

function Warnings({ latest }: { readonly latest: ReviewPage }) {
  const { change, uncommitted, before, accept, checks, target } = latest;
  const conflicts = change?.conflicts ?? [];
  const lines = [
    ...(before === null ? [] : [safe(before)]),
    ...(conflicts.length > 0
      ? [
          `It conflicts with ${safe(target ?? 'its target')}: ${conflicts.map((path) => safe(path)).join(', ')}`,
        ]
      : []),
    ...(uncommitted > 0 ? [`${counted(uncommitted, 'uncommitted file')} would not land.`] : []),
    ...(accept.commands > 0
      ? [accept.passed ? 'Its accept commands passed.' : 'Its accept commands have not run for this commit.']
      : []),
    ...checks.map(({ name, verdict }) => `Check ${safe(name)}: ${verdict}`),
  ];
  if (lines.length === 0) return null;
  return (
    <ul className={styles.warnings}>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

interface FileKeys {
  readonly onMove: (by: 1 | -1) => void;
  readonly onViewed: () => void;
  readonly onComment: () => void;
}

function useFileKeys(keys: FileKeys): void {
  const last = useRef(keys);
  useEffect(() => {
    last.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      const run = {
        j: () => last.current.onMove(1),
        k: () => last.current.onMove(-1),
        v: () => last.current.onViewed(),
        c: () => last.current.onComment(),
      }[event.key];
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
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
