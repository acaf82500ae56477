/** A page before its first answer, without anything to show, and after a refusal. */

import { type ReactNode, Suspense, lazy } from 'react';

import { Problem } from '../api/problem.ts';
import { type AnyAnswer, useConnection, useDesk } from '../store/hooks.tsx';
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

const nothing = { default: () => null };
/** Apart from the script of the first page, which seldom needs it. */
const Older = lazy(() => import('./older.tsx').catch(() => nothing));

/** What the page shows is older than it looks: a later reading failed. */
export function NotAnew({ answers }: { readonly answers: readonly AnyAnswer[] }) {
  const failed = answers.filter(({ error, data }) => error && data);
  return (
    failed.length > 0 && (
      <Suspense>
        <Older failed={failed} />
      </Suspense>
    )
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
