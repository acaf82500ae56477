/** A guided look at each page. It is offered on the first visit, and stays away once it was closed. */

import { useState } from 'react';
import { useLocation } from 'wouter';

import styles from './look-around.module.css';
import { pageEntries } from './pages.ts';

const KEY = 'copse.looked';

const TEXTS: Readonly<Record<string, string>> = {
  '/inbox':
    'All that needs you, in one list. First comes what most tasks wait for. Answer in place; the next one gets the focus.',
  '/board':
    'Every task, from needs you to done. It follows the board: there is nothing to reload. Click a card for its story; crashes, handbacks and landings are in the news below.',
  '/queue':
    'Finished work on its way to main: what is merged, checked and tried together, and when it will land.',
  '/radar': 'Which tasks change the same files, and which of them will conflict, before they land.',
  '/plans': 'Plans with their tasks: what waits for what, and which chain takes longest.',
  '/fleet': 'The machines that run agents, what runs there, and the work that starts at set times.',
  '/health': 'How it went: landed per day, time to land, crashes, questions, cost.',
  '/history': 'The board as it was at any event: move the slider to see how it came about.',
};

export function LookAround() {
  const [location, go] = useLocation();
  const [isOpen, setOpen] = useState(() => localStorage.getItem(KEY) === null);
  const [step, setStep] = useState<number>();
  if (!isOpen) return null;
  const close = () => {
    localStorage.setItem(KEY, 'yes');
    setOpen(false);
  };
  const next = step === undefined ? 0 : step + 1;
  const page = step === undefined ? undefined : pageEntries[step];
  const following = pageEntries[next];
  const onNext = () => {
    if (following === undefined) return close();
    setStep(next);
    if (!location.startsWith(following.path)) go(following.path);
    return undefined;
  };
  return (
    <aside className={styles.look} aria-label="A look around">
      {page === undefined ? (
        <p>New here? A look at each page takes a minute.</p>
      ) : (
        <>
          <h2>
            {page.title}{' '}
            <small>
              <kbd>g</kbd> <kbd>{page.key}</kbd>
            </small>
          </h2>
          <p>{TEXTS[page.path]}</p>
        </>
      )}
      <div className={styles.buttons}>
        <button type="button" onClick={onNext}>
          {step === undefined ? 'Look around' : (following?.title ?? 'Done')}
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </aside>
  );
}
