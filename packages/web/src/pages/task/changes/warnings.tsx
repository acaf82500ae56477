/** What a reviewer must know beside the differences. */

import { verdictWord } from '../../../../../copse/src/explain/rules/queue.ts';
import { counted, named, shown as safe, shownPath } from '../../../../../copse/src/kernel/text.ts';
import styles from './changes.module.css';
import type { ReviewPage } from './pages.ts';
import type { FilePatch } from './patch.ts';

interface WarningsProps {
  readonly task: string;
  readonly latest: ReviewPage;
  readonly patches: readonly FilePatch[];
}

export function Warnings({ task, latest, patches }: WarningsProps) {
  const cut = patches.filter(({ isCut }) => isCut).map(({ name }) => name);
  const { change, uncommitted, before, accept, checks, target } = latest;
  const conflicts = change?.conflicts ?? [];
  const lines = [
    ...(before === null ? [] : [safe(before)]),
    ...(conflicts.length > 0
      ? [`It conflicts with ${safe(target ?? 'its target')}: ${conflicts.map(shownPath).join(', ')}`]
      : []),
    ...(cut.length > 0
      ? [`Long lines are cut here in ${named(cut)}. To read them whole: copse review ${task}`]
      : []),
    ...(uncommitted > 0 ? [`${counted(uncommitted, 'uncommitted file')} would not land.`] : []),
    ...(accept.commands > 0
      ? [
          accept.passed
            ? 'Its accept commands passed.'
            : 'Its accept commands have not passed for this commit.',
        ]
      : []),
    ...checks.map(({ name, verdict }) => `Check ${safe(name)}: ${verdictWord(verdict)}`),
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

interface MismatchProps {
  readonly task: string;
  readonly mismatch: string;
}

/** The page cannot show what lands, so it takes no approval. */
export function Mismatch({ task, mismatch }: MismatchProps) {
  return (
    <p className={styles.alarm} role="alert">
      {`The patch does not match the list of changed files: ${mismatch}. More or other lines would land than this page shows, so you cannot approve here. Read the whole patch in a terminal: `}
      <code>{`copse review ${task}`}</code>
    </p>
  );
}
