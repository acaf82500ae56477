/** The changed files by folder. Each is a button that brings its differences into view. */

import { useMemo, useRef } from 'react';

import { counted, shownPath } from '../../../../../copse/src/kernel/text.ts';
import styles from './changes.module.css';
import type { KeptReview } from './kept-reviews.ts';
import { isViewed } from './kept.ts';
import type { ChangedFile, FilePatch } from './patch.ts';

interface FileTreeProps {
  readonly files: readonly ChangedFile[];
  readonly patches: readonly FilePatch[];
  readonly kept: KeptReview;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
}

const CHANGES = {
  added: 'A',
  deleted: 'D',
  modified: 'M',
  renamed: 'R',
  copied: 'C',
  type_changed: 'T',
} as const;

export function FileTree({ files, patches, kept, selected, onSelect }: FileTreeProps) {
  const byPath = useMemo(() => new Map(patches.map((patch) => [patch.file.path, patch])), [patches]);
  const folders = useMemo(
    () => Map.groupBy(files, ({ path }) => path.slice(0, path.lastIndexOf('/') + 1)),
    [files],
  );
  const tree = useRef<HTMLElement>(null);
  const comments = Map.groupBy(kept.drafts, ({ comment }) => comment.path);
  const move = (by: number) => {
    const buttons = [...(tree.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[at + by]?.focus();
  };
  return (
    <nav
      ref={tree}
      className={styles.tree}
      aria-label="Changed files"
      onKeyDown={(event) => {
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        move(by);
      }}
    >
      {[...folders].map(([folder, inside]) => (
        <section key={folder} aria-label={folder === '' ? 'The top folder' : shownPath(folder)}>
          {folder !== '' && <p className={styles.folder}>{shownPath(folder)}</p>}
          <ul>
            {inside.map((file) => {
              const patch = byPath.get(file.path);
              const isSeen = patch !== undefined && isViewed(kept, patch);
              const count = comments.get(file.path)?.length ?? 0;
              return (
                <li key={file.path}>
                  <button
                    type="button"
                    aria-current={file.path === selected}
                    disabled={patch === undefined}
                    onClick={() => onSelect(file.path)}
                  >
                    <span className={styles.change} title={file.change}>
                      {CHANGES[file.change]}
                    </span>
                    <span className={styles.name}>{shownPath(file.path.slice(folder.length))}</span>
                    <span className={styles.counts}>
                      {count > 0 && `${counted(count, 'comment')} `}
                      {isSeen && '✓ '}
                      {file.lines === null ? 'binary' : `+${file.lines.inserted} -${file.lines.deleted}`}
                    </span>
                  </button>
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </nav>
  );
}
