import { Suspense, lazy, useEffect, useRef, useState } from 'react';

import { Client } from '../api/client.ts';
import { findToken, forgetToken, keep, shareToken } from '../api/token.ts';
import { DeskProvider } from '../store/hooks.tsx';
import { Live } from '../store/live.ts';
import { Shell } from './shell.tsx';

/** Most people come with a code, and never see it. */
const Entrance = lazy(async () => ({ default: (await import('./entrance.tsx')).Entrance }));

type Entry =
  | { readonly kind: 'looking' }
  | { readonly kind: 'outside'; readonly problem: unknown }
  | { readonly kind: 'inside'; readonly client: Client; readonly live: Live };

export function App() {
  const [entry, setEntry] = useState<Entry>({ kind: 'looking' });
  const isIn = useRef(false);
  const goIn = (token: string) => {
    isIn.current = true;
    setEntry(inside(token, (problem) => setEntry({ kind: 'outside', problem })));
  };
  useEffect(() => {
    let isCurrent = true;
    onLateToken = (token) => {
      // The person may have typed a code meanwhile.
      if (!isIn.current) goIn(keep(token));
    };
    void tokenOnce().then(
      (token) =>
        isCurrent && (token === undefined ? setEntry({ kind: 'outside', problem: null }) : goIn(token)),
      (error: unknown) => isCurrent && setEntry({ kind: 'outside', problem: error }),
    );
    return () => {
      isCurrent = false;
    };
    // Once for the page.
  }, []);
  if (entry.kind === 'looking') return null;
  if (entry.kind === 'outside')
    return (
      <Suspense fallback={null}>
        <Entrance problem={entry.problem} onToken={goIn} />
      </Suspense>
    );
  return (
    <DeskProvider desk={entry}>
      <Shell />
    </DeskProvider>
  );
}

/** A code works once, so it is used once also where React runs an effect twice. */
let looked: Promise<string | undefined> | undefined;
let onLateToken: (token: string) => void = () => {};

function tokenOnce(): Promise<string | undefined> {
  looked ??= findToken((token) => onLateToken(token));
  return looked;
}

function inside(token: string, onOut: (problem: Error) => void): Entry {
  let isOut = false;
  const client = new Client(token, () => {
    // A late refusal must not end the access that a person has again.
    if (isOut) return;
    isOut = true;
    live.refused();
    stopSharing();
    forgetToken();
    onOut(new Error('Your access ended: it lasts at most 12 hours.'));
  });
  const live = new Live(client);
  const stopSharing = shareToken(token);
  live.start();
  return { kind: 'inside', client, live };
}
