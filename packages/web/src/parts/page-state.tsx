/** A page before its first answer, without anything to show, and after a refusal. */

import type { ReactNode } from 'react';

import { Problem } from '../api/problem.ts';
import { type AnyAnswer, useConnection, useDesk } from '../store/hooks.tsx';
import { momentText } from './moment.ts';
import styles from './page-state.module.css';

export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={styles.state}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className={`${styles.state} ${styles.loading}`} aria-busy="true">
      Reading {what} …
    </p>
  );
}

export function Refused({ problem, onAgain }: { readonly problem: Problem; readonly onAgain: () => void }) {
  return (
    <section className={styles.state} role="alert">
      <h2>{problem.message}</h2>
      {problem.next.map((command) => (
        <code key={command}>{command}</code>
      ))}
      <button type="button" onClick={onAgain}>
        Try again
      </button>
    </section>
  );
}

interface NotAnewProps {
  readonly answers: readonly AnyAnswer[];
}

/** What the page shows is older than it looks: a later reading failed. The banner says it while there is no connection. */
export function NotAnew({ answers }: NotAnewProps) {
  const isLive = useConnection() === 'live';
  const failed = answers.filter(({ error, data }) => error !== null && data !== undefined);
  const [first] = failed;
  if (first?.error == null || !isLive) return null;
  const since = momentText(new Date(first.dataUpdatedAt).toISOString());
  return (
    <p className={styles.older} role="status">
      {`Could not be read anew since ${since}: ${first.error.message} `}
      <button type="button" onClick={() => void Promise.all(failed.map((answer) => answer.refetch()))}>
        Try again
      </button>
    </p>
  );
}

/** A page of records before the first snapshot: an empty world says nothing about the board. */
export function NotReadYet({ what }: { readonly what: string }) {
  const { live } = useDesk();
  if (useConnection() !== 'away') return <Loading what={what} />;
  return <Refused problem={live.problem ?? notRead} onAgain={() => live.hurry()} />;
}

const notRead = new Problem({
  code: 'unreachable',
  status: 0,
  detail: 'The board could not be read.',
  next: ['copse serve'],
});
