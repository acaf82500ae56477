/** All files of a change in one scroller that draws only what is visible. Loaded when changes are opened first. */

import type { CodeViewDiffItem, DiffLineAnnotation, FileDiffMetadata } from '@pierre/diffs';
import { CodeView, type CodeViewHandle, WorkerPoolContextProvider } from '@pierre/diffs/react';
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';

// oxlint-disable-next-line import/default -- Vite makes a class of a worker's file.
import HighlightWorker from '@pierre/diffs/worker/worker.js?worker';

import styles from './changes.module.css';
import { parsedFile } from './parsed-file.ts';
import type { FilePatch } from './patch.ts';
import { type LinePlace, isShownLine } from './places.ts';

/** Something that is shown below a line. */
export interface Note {
  readonly key: string;
  readonly place: LinePlace;
}

export interface DiffViewHandle {
  /** With a line of the file, that line. */
  show(path: string, place?: LinePlace): void;
}

interface DiffViewProps {
  readonly patches: readonly FilePatch[];
  readonly notes: readonly Note[];
  readonly isSplit: boolean;
  readonly renderNote: (key: string) => ReactNode;
  readonly renderHeader: (patch: FilePatch) => ReactNode;
  readonly collapsed: (patch: FilePatch) => boolean;
  readonly onPlace: (place: LinePlace) => void;
  readonly ref: Ref<DiffViewHandle>;
}

export default function DiffView(props: DiffViewProps) {
  const { patches, notes, isSplit, renderNote, renderHeader, collapsed, onPlace, ref } = props;
  const view = useRef<CodeViewHandle<string, undefined>>(null);
  const { parsed, parseUntil } = useParsed(patches);
  const byPath = useMemo(() => new Map(patches.map((patch) => [patch.file.path, patch])), [patches]);
  const wanted = useRef<{ readonly path: string; readonly place: LinePlace | undefined }>(undefined);
  const scrollTo = (path: string, place: LinePlace | undefined) => {
    const patch = byPath.get(path);
    const isLine = place !== undefined && patch !== undefined && isShownLine(patch, place);
    view.current?.scrollTo(
      isLine
        ? { type: 'line', id: path, lineNumber: place.endLine, side: sideOf(place), align: 'center' }
        : { type: 'item', id: path, align: 'start' },
    );
  };
  useImperativeHandle(ref, () => ({
    show: (path, place) => {
      if (parsed.has(path)) return scrollTo(path, place);
      wanted.current = { path, place };
      return parseUntil(path);
    },
  }));
  // After the view knows the file.
  useEffect(() => {
    if (wanted.current === undefined || !parsed.has(wanted.current.path)) return;
    const { path, place } = wanted.current;
    wanted.current = undefined;
    scrollTo(path, place);
  });
  const versions = useRef(new Map<string, { readonly text: string; readonly version: number }>());
  const items = patches.flatMap((patch): CodeViewDiffItem<string>[] => {
    const { path } = patch.file;
    const fileDiff = parsed.get(path);
    if (fileDiff === undefined) return [];
    const annotations = notes
      .filter(({ place }) => place.path === path)
      .map((note) => annotationOf(note, patch));
    const isCollapsed = collapsed(patch);
    const version = versionOf(
      versions.current,
      path,
      JSON.stringify([annotations, isCollapsed, patch.contentKey]),
    );
    return [{ id: path, type: 'diff', fileDiff, annotations, collapsed: isCollapsed, version }];
  });
  return (
    <WorkerPoolContextProvider poolOptions={POOL} highlighterOptions={HIGHLIGHTER}>
      <CodeView<string>
        ref={view}
        className={styles.code ?? ''}
        items={items}
        options={{
          theme: THEMES,
          themeType: 'system',
          diffStyle: isSplit ? 'split' : 'unified',
          overflow: 'wrap',
          stickyHeaders: true,
          enableGutterUtility: true,
          tokenizeMaxLineLength: 1_000,
          maxLineDiffLength: 1_000,
          unsafeCSS: OWN_STYLE,
          onGutterUtilityClick: (
            { start, end, side = 'additions' }: Selected,
            { item }: { readonly item: { readonly id: string } },
          ) =>
            onPlace({
              path: item.id,
              line: Math.min(start, end),
              endLine: Math.max(start, end),
              side: side === 'deletions' ? 'old' : 'new',
            }),
        }}
        renderAnnotation={(...[annotation]) => renderNote(annotation.metadata)}
        renderHeaderMetadata={({ id }) => {
          const patch = byPath.get(id);
          return patch === undefined ? null : renderHeader(patch);
        }}
      />
    </WorkerPoolContextProvider>
  );
}

interface Selected {
  readonly start: number;
  readonly end: number;
  readonly side?: 'additions' | 'deletions';
}

const THEMES = { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } as const;
const HIGHLIGHTER = { theme: THEMES, preferredHighlighter: 'shiki-js' } as const;
const POOL = {
  workerFactory: () => new HighlightWorker(),
  poolSize: 1,
};

/** Fonts and colours of the page, which have enough contrast on the colours of changed lines. */
const OWN_STYLE = `
:host {
  --diffs-font-family: var(--mono);
  --diffs-header-font-family: var(--font);
  --diffs-fg-number-addition-override: var(--done);
  --diffs-fg-number-deletion-override: var(--failed);
  --diffs-bg-addition-emphasis-override: light-dark(#fff, rgb(from var(--diffs-addition-base) r g b / 0.2));
  --diffs-bg-deletion-emphasis-override: light-dark(#fff, rgb(from var(--diffs-deletion-base) r g b / 0.2));
}
[data-additions-count] { color: var(--done); }
[data-deletions-count] { color: var(--failed); }
`;

/** The view draws what is on line 0 above the first line of the file. */
function annotationOf({ key, place }: Note, patch: FilePatch): DiffLineAnnotation<string> {
  return { side: sideOf(place), lineNumber: isShownLine(patch, place) ? place.endLine : 0, metadata: key };
}

function sideOf({ side }: LinePlace): 'deletions' | 'additions' {
  return side === 'old' ? 'deletions' : 'additions';
}

type Parsed = ReadonlyMap<string, FileDiffMetadata | undefined>;

interface ParsedPatch {
  readonly of: string | null;
  readonly diff: FileDiffMetadata | undefined;
}

/** Characters of patches: as many are read before the first drawing, and before each further one, which takes the view 30 ms. */
const [FIRST_TEXT, NEXT_TEXT] = [200_000, 1_000_000];

/**
 * The lines of the files, from the first on: of a large change not all before the first drawing. A file whose patch stays the same
 * is not read again.
 */
function useParsed(patches: readonly FilePatch[]) {
  const known = useRef(new Map<string, ParsedPatch>());
  const isKnown = ({ file, text }: FilePatch) => known.current.get(file.path)?.of === text;
  const [looks, setLooks] = useState(0);
  const parsed = useMemo((): Parsed => {
    const most = looks === 0 ? FIRST_TEXT : NEXT_TEXT;
    let read = 0;
    const found = new Map<string, FileDiffMetadata | undefined>();
    for (const patch of patches) {
      const { path } = patch.file;
      if (!isKnown(patch)) {
        if (read >= most) break;
        read += patch.text?.length ?? 0;
        known.current.set(path, { of: patch.text, diff: parsedFile(patch) });
      }
      found.set(path, known.current.get(path)?.diff);
    }
    return found;
    // Each look goes further.
  }, [patches, looks]);
  const isWhole = parsed.size === patches.length;
  useEffect(() => {
    if (isWhole) return undefined;
    const timer = setTimeout(() => setLooks((count) => count + 1));
    return () => clearTimeout(timer);
  }, [isWhole, looks, patches]);
  const parseUntil = (path: string) => {
    for (const patch of patches) {
      if (!isKnown(patch)) known.current.set(patch.file.path, { of: patch.text, diff: parsedFile(patch) });
      if (patch.file.path === path) break;
    }
    setLooks((count) => count + 1);
  };
  return { parsed, parseUntil };
}

/** The view draws an item anew only when its version changed. */
function versionOf(
  versions: Map<string, { readonly text: string; readonly version: number }>,
  path: string,
  text: string,
): number {
  const last = versions.get(path);
  if (last?.text === text) return last.version;
  const version = (last?.version ?? 0) + 1;
  versions.set(path, { text, version });
  return version;
}
