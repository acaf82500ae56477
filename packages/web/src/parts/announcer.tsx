/** Says what happened to those who cannot see it, politely: after what is being read. */

import { type PropsWithChildren, createContext, use, useCallback, useState } from 'react';

const AnnounceContext = createContext<(text: string) => void>(() => {});

export function useAnnounce(): (text: string) => void {
  return use(AnnounceContext);
}

export function Announcer({ children }: PropsWithChildren) {
  const [text, setText] = useState('');
  const announce = useCallback((said: string) => {
    // The same text again is a change too, or a screen reader would be silent.
    setText((before) => (before === said ? `${said}\u00a0` : said));
  }, []);
  return (
    <AnnounceContext value={announce}>
      {children}
      <p role="status" aria-live="polite" style={HIDDEN}>
        {text}
      </p>
    </AnnounceContext>
  );
}

const HIDDEN = {
  position: 'absolute',
  width: 1,
  height: 1,
  overflow: 'hidden',
  clipPath: 'inset(50%)',
} as const;
