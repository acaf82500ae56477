/** A result of a task. A file may be a program or an image: it is shown as text or saved, never opened in this page. */

import { useState } from 'react';

import { sizeText } from '../../../../copse/src/explain/rules/amounts.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { Problem } from '../../api/problem.ts';
import { withCommand } from '../../parts/command-line.ts';
import { useToast } from '../../parts/toasts.tsx';
import { useDesk } from '../../store/hooks.tsx';
import {
  type ReadContent,
  contentText,
  isBinary,
  nothingRead,
  readBytes,
  withPage,
} from './artifact-content.ts';
import type { ShownTask } from './page.tsx';
import { Since } from './since.tsx';
import styles from './task.module.css';

type Artifact = ShownTask['artifacts'][number];

/** More of a text at once, and more at all, makes the page slow. */
const [NEXT_BYTES, MOST_BYTES] = [256 * 1_024, 2 * 1_024 * 1_024];

export function ArtifactEntry({ artifact }: { readonly artifact: Artifact }) {
  const { id, kind, address, title, at, content } = artifact;
  return (
    <li>
      <span className={styles.faint}>
        {kind} · <Since at={at} />
      </span>
      <p>
        {title !== null && `${shown(title)}: `}
        <code>{shown(content?.name ?? address)}</code>
        {content && ` (${sizeText(content.bytes)})`}
      </p>
      {content && <Content id={id} name={content.name} bytes={content.bytes} />}
    </li>
  );
}

interface ContentProps extends Pick<NonNullable<Artifact['content']>, 'name' | 'bytes'> {
  readonly id: string;
}

function Content({ id, name, bytes }: ContentProps) {
  const [read, setRead] = useState(nothingRead);
  const [most, setMost] = useState(0);
  const [isBusy, readUntil] = useReading(id);
  const showMore = async () => {
    const next = await readUntil(read, most + NEXT_BYTES);
    if (next === undefined) return;
    setRead(next);
    setMost(most + NEXT_BYTES);
  };
  const save = async () => {
    const whole = await readUntil(read, bytes);
    if (whole !== undefined) saveFile(name, whole);
  };
  const isNoText = isBinary(read);
  const isOpen = most > 0 && !isNoText;
  const hasMore = most < bytes && most < MOST_BYTES && !isNoText;
  return (
    <>
      {isOpen && (
        <pre
          className={`${styles.text} ${styles.code} ${styles.content}`}
          tabIndex={0}
          aria-label={shown(name)}
        >
          {shown(contentText(read, most))}
        </pre>
      )}
      {isOpen && most < bytes && (
        <p className={styles.faint}>
          {`The first ${sizeText(most)} of ${sizeText(bytes)}.`}
          {!hasMore && ' Save the file to read all of it.'}
        </p>
      )}
      {isNoText && <p className={styles.faint}>It is not text. Save the file to open it.</p>}
      <div className={styles.others}>
        {hasMore && (
          <button
            type="button"
            className={styles.more}
            aria-disabled={isBusy}
            {...withCommand(`copse artifact show ${id}`)}
            onClick={() => isBusy || void showMore()}
          >
            {most === 0 ? 'Show its content' : 'Show more'}
          </button>
        )}
        <button
          type="button"
          className={styles.more}
          aria-disabled={isBusy}
          {...withCommand(`copse artifact get ${id}`)}
          onClick={() => isBusy || void save()}
        >
          {isBusy ? 'Reading …' : 'Save the file'}
        </button>
      </div>
    </>
  );
}

type ReadUntil = (read: ReadContent, bytes: number) => Promise<ReadContent | undefined>;

/** Reads on page by page; undefined after a refusal, which a person sees. */
function useReading(artifact: string): readonly [boolean, ReadUntil] {
  const { client } = useDesk();
  const toast = useToast();
  const [isBusy, setBusy] = useState(false);
  const readUntil: ReadUntil = async (read, bytes) => {
    setBusy(true);
    try {
      let content = read;
      while (content.next !== null && readBytes(content) < bytes)
        content = withPage(content, await client.call('artifact.content', { artifact, after: content.next }));
      return content;
    } catch (error) {
      const next = error instanceof Problem ? error.next : [];
      toast({ text: error instanceof Error ? error.message : String(error), isProblem: true, next });
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return [isBusy, readUntil];
}

/** The browser takes the address after the click. */
const TAKEN_MS = 60_000;

/** As bytes without a type: a browser must not open what an agent wrote. */
function saveFile(name: string, { pages }: ReadContent): void {
  const url = URL.createObjectURL(new Blob([...pages], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = shown(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TAKEN_MS);
}
