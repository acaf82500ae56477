/** Every pair in words: which files, and since when. On a phone it stands for the matrix. */

import { memo } from 'react';
import { Link } from 'wouter';

import { age } from '../../../../copse/src/explain/rules/amounts.ts';
import { timestamp } from '../../../../copse/src/kernel/ids.ts';
import { counted, shown } from '../../../../copse/src/kernel/text.ts';
import { withCommand } from '../../parts/command-line.ts';
import { useNow } from '../../parts/now.ts';
import { LOOKS, type Pair } from './looks.ts';
import styles from './radar.module.css';

interface PairsProps {
  readonly pairs: readonly Pair[];
  readonly titleOf: (task: string) => string;
  readonly onOpen: (tasks: readonly string[]) => void;
}

const SHOWN_FILES = 5;

export const Pairs = memo(function Pairs({ pairs, titleOf, onOpen }: PairsProps) {
  return (
    <ul className={styles.pairs} aria-label="Pairs of branches">
      {pairs.map((pair) => {
        const [glyph, word] = LOOKS[pair.verdict];
        const more = pair.files.length - SHOWN_FILES + pair.omittedFiles;
        return (
          <li key={pair.tasks.join(' ')} data-verdict={pair.verdict}>
            <strong>
              <span aria-hidden="true">{glyph}</span> {word}
            </strong>
            <div className={styles.tasks}>
              {pair.tasks.map((task) => (
                <Link key={task} href={`/tasks/${task}`}>
                  <code>{task}</code> {titleOf(task)}
                </Link>
              ))}
              {pair.files.length > 0 && (
                <p>
                  {pair.files.slice(0, SHOWN_FILES).map((file) => (
                    <code key={file}>{shown(file)}</code>
                  ))}
                  {more > 0 && ` and ${counted(more, 'more file')}`}
                </p>
              )}
            </div>
            <Since since={pair.since} />
            <button
              type="button"
              {...withCommand(pair.tasks.map((task) => `copse diff ${task}`).join('; '))}
              onClick={() => onOpen(pair.tasks)}
            >
              Show both diffs
              <span className={styles.hidden}> of {pair.tasks.join(' and ')}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
});

/** Apart, so that the list is not drawn anew as time goes on. */
function Since({ since }: { readonly since: string }) {
  const now = useNow();
  const from = Date.parse(since);
  return (
    <span className={styles.since}>
      {now - from < MINUTE_MS ? 'new' : `for ${age(timestamp(from), now)}`}
    </span>
  );
}

const MINUTE_MS = 60_000;
