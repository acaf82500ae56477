/** Undoes a landing after a look at what that would revert. */

import { useState } from 'react';

import { counted, shown, shownPath } from '../../../../copse/src/kernel/text.ts';
import type { OutputOf } from '../../api/operations.ts';
import { usePerform } from '../../parts/perform.ts';
import { useDesk } from '../../store/hooks.tsx';
import { AskButton, type Asking } from './ask-text.tsx';
import styles from './task.module.css';

type Preview = OutputOf<'landing.preview_undo'>;

interface UndoProps extends Asking {
  readonly id: string;
  readonly label: string;
  readonly isMain: boolean;
}

export function UndoLanding({ id, label, isMain, onOpen, ...asking }: UndoProps) {
  const { client } = useDesk();
  const [preview, setPreview] = useState<Preview | Error>();
  const [isBusy, perform] = usePerform();
  const look = () => {
    onOpen?.();
    setPreview(undefined);
    client.call('landing.preview_undo', { task: id }).then(setPreview, setPreview);
  };
  return (
    <AskButton
      label={label}
      command={`copse undo ${id}`}
      title={`Undo the landing of ${id}`}
      isMain={isMain}
      isBusy={isBusy}
      onOpen={look}
      {...asking}
      onSubmit={() =>
        perform('landing.undo', { task: id }, ({ undo }) => ({
          text: undo === null ? `${id} is undone.` : `${undo.id} undoes ${id}: ${shown(undo.title)}`,
        }))
      }
    >
      <div className={styles.preview}>
        {preview === undefined && <p>Reading what would be reverted …</p>}
        {preview instanceof Error && <p role="alert">{preview.message}</p>}
        {preview !== undefined && !(preview instanceof Error) && <What preview={preview} />}
      </div>
    </AskButton>
  );
}

const MOST_FILES = 20;

function What({ preview: { target, commits, files, inserted, deleted } }: { readonly preview: Preview }) {
  return (
    <>
      <p>
        {`This reverts ${counted(commits.length, 'commit')} on ${shown(target)}: ${counted(files.length, 'file')}, +${inserted} -${deleted}.`}
      </p>
      <ul>
        {commits.map((commit) => (
          <li key={commit.id}>
            <code>{commit.id.slice(0, 10)}</code> {shown(commit.subject)}
          </li>
        ))}
      </ul>
      <ul>
        {files.slice(0, MOST_FILES).map(({ path }) => (
          <li key={path}>
            <code>{shownPath(path)}</code>
          </li>
        ))}
        {files.length > MOST_FILES && <li>{`and ${files.length - MOST_FILES} more`}</li>}
      </ul>
    </>
  );
}
