/** What a person sees who has no token: how to get in. */

import { type SubmitEvent, useState } from 'react';

import { enter } from '../api/client.ts';
import { keep } from '../api/token.ts';
import styles from './entrance.module.css';
import { entryRefusal } from './entry-refusal.ts';

interface EntranceProps {
  /** Why there was no way in; null: nothing was tried. */
  readonly problem: unknown;
  readonly onToken: (token: string) => void;
}

export function Entrance({ problem, onToken }: EntranceProps) {
  const [code, setCode] = useState('');
  const [said, setSaid] = useState(() => (problem === null ? null : entryRefusal(problem)));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    enter(code.trim()).then(
      (token) => onToken(keep(token)),
      (error: unknown) => setSaid(entryRefusal(error)),
    );
  };
  return (
    <main className={styles.entrance}>
      <h1>Copse</h1>
      {said !== null && <p role="alert">{said}</p>}
      <p>
        To open the dashboard, run <code>copse serve --open</code> in the repository. It opens this page with
        a code that works once.
      </p>
      <form onSubmit={submit}>
        <label htmlFor="code">The code that copse serve printed</label>
        <input
          id="code"
          autoComplete="off"
          spellCheck={false}
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <button type="submit" disabled={code.trim() === ''}>
          Enter
        </button>
      </form>
    </main>
  );
}
