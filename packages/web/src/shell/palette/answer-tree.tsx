/** Any document of the API for a person: names and values, lists numbered, nothing of it interpreted. */

import { shown } from '../../../../copse/src/kernel/text.ts';
import styles from './palette.module.css';

const MOST_ENTRIES = 200;
const MOST_LETTERS = 20_000;

export function AnswerTree({ value }: { readonly value: unknown }) {
  return (
    // It scrolls, so it is reached by keyboard.
    <div className={styles.tree} role="group" tabIndex={0} aria-label="Its content">
      <Value value={value} />
    </div>
  );
}

function Value({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <span className={styles.id}>none</span>;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return <Text text={value} />;
  const entries = Array.isArray(value)
    ? value.map((one, index) => [String(index + 1), one as unknown] as const)
    : Object.entries(value);
  if (entries.length === 0) return <span className={styles.id}>none</span>;
  const more = entries.length - MOST_ENTRIES;
  return (
    <>
      <dl>
        {entries.slice(0, MOST_ENTRIES).map(([name, one]) => (
          <div key={name}>
            <dt>{shown(name)}</dt>
            <dd>
              <Value value={one} />
            </dd>
          </div>
        ))}
      </dl>
      {more > 0 && <p>and {more} more; the command line shows all</p>}
    </>
  );
}

function Text({ text }: { readonly text: string }) {
  if (text === '') return <span className={styles.id}>empty</span>;
  const cut = text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)} … (cut)` : text;
  return cut.includes('\n') ? <pre>{shown(cut)}</pre> : shown(cut);
}
