import { type AnyAnswer, useConnection } from '../store/hooks.tsx';
import { momentText } from './moment.ts';
import styles from './page-state.module.css';

/** The banner of the page says it while there is no connection. */
export default function Older({ failed }: { readonly failed: readonly AnyAnswer[] }) {
  const isLive = useConnection() === 'live';
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
