/** Rail, connection, keys, palette and the open page. On a phone the rail is a bar at the bottom with the rest behind More. */

import { useQueryClient } from '@tanstack/react-query';
import { Suspense, lazy, useCallback, useEffect, useMemo, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';

import { Announcer } from '../parts/announcer.tsx';
import { Failing } from '../parts/failing.tsx';
import { type KeyBinding, useKeys } from '../parts/keys.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { useConnection, useIsRead, useRecords } from '../store/hooks.tsx';
import { ConnectionBanner, ConnectionMark } from './connection.tsx';
import { Icon } from './icons.tsx';
import { countNeeding } from './needing.ts';
import { reloadOnceIfUnloaded } from './new-files.ts';
import { PageBoundary } from './page-boundary.tsx';
import { TaskPage, isFirst, loadOtherPages, pageEntries } from './pages.ts';
import styles from './shell.module.css';

const Palette = lazy(() => import('./palette/palette.tsx'));
const nothing = { default: () => null };
/** The page is whole without these two: what cannot be loaded of them takes nothing away. */
const LookAround = lazy(() =>
  import('./look-around.tsx').then(
    (one) => ({ default: one.LookAround }),
    () => nothing,
  ),
);
const NoticeSwitch = lazy(() =>
  import('./notices.tsx').then(
    (one) => ({ default: one.NoticeSwitch }),
    () => nothing,
  ),
);
const More = lazy(async () => ({ default: (await import('./more.tsx')).More }));
const Help = lazy(async () => ({ default: (await import('./help.tsx')).Help }));

export type Opened = 'palette' | 'help' | 'more' | null;

export function Shell() {
  const [location, go] = useLocation();
  const [opened, setOpened] = useState<Opened>(null);
  const close = useCallback(() => setOpened(null), []);
  useShellKeys(go, setOpened);
  useEffect(() => {
    const kept = import('../parts/keyboard.ts').then(({ keepKeyboard }) => keepKeyboard());
    return () => void kept.then((end) => end());
  }, []);
  useOtherPages();
  useAskAgain();
  useEffect(() => {
    document.title = `${titleOf(location)} · Copse`;
    setOpened(null);
  }, [location]);
  return (
    <Announcer>
      <Toasts>
        <div className={styles.shell}>
          <a className={styles.skip} href="#main">
            Skip to the page
          </a>
          <nav className={styles.rail} aria-label="Pages">
            {pageEntries.map(({ path, title }) => (
              <PageLink key={path} path={path} title={title} location={location} />
            ))}
            <button
              type="button"
              className={styles.more}
              data-current={pageEntries.some(({ path }) => !isFirst(path) && location.startsWith(path))}
              onClick={() => setOpened('more')}
            >
              <Icon of="more" />
              <span>More</span>
            </button>
            <div className={styles.foot}>
              <button type="button" className={styles.tool} onClick={() => setOpened('palette')}>
                Search <kbd>Ctrl K</kbd>
              </button>
              <button type="button" className={styles.tool} onClick={() => setOpened('help')}>
                Keys <kbd>?</kbd>
              </button>
              <Suspense fallback={null}>
                <NoticeSwitch />
              </Suspense>
              <ConnectionMark />
            </div>
          </nav>
          <main id="main" className={styles.main} tabIndex={-1}>
            <ConnectionBanner />
            <div className={styles.page}>
              <Failing key={opened} onError={reloadOnceIfUnloaded}>
                <Suspense fallback={null}>
                  {opened === 'palette' && <Palette onClose={close} />}
                  {opened === 'help' && <Help onClose={close} />}
                  {opened === 'more' && <More onOpen={setOpened} onClose={close} />}
                </Suspense>
              </Failing>
              <PageBoundary key={location} title={titleOf(location)}>
                <Suspense fallback={<PageLoading location={location} />}>
                  <Switch>
                    {pageEntries.map(({ path, component }) => (
                      <Route key={path} path={path} component={component} />
                    ))}
                    <Route path="/tasks/:task" component={TaskPage} />
                    <Route>
                      <Redirect to="/inbox" replace />
                    </Route>
                  </Switch>
                </Suspense>
              </PageBoundary>
            </div>
          </main>
        </div>
        <Suspense fallback={null}>
          <LookAround />
        </Suspense>
      </Toasts>
    </Announcer>
  );
}

function titleOf(location: string): string {
  return pageEntries.find(({ path }) => location.startsWith(path))?.title ?? 'Task';
}

/** The heading is where the page will have it. */
function PageLoading({ location }: { readonly location: string }) {
  const entry = pageEntries.find(({ path }) => location.startsWith(path));
  return (
    <div className={styles.loading} aria-busy="true">
      {entry && <PageHead title={entry.title} />}
    </div>
  );
}

/** When the browser has nothing better to do. */
function useOtherPages(): void {
  const isRead = useIsRead();
  useEffect(() => {
    if (!isRead) return undefined;
    const timer = setTimeout(() => void loadOtherPages(), OTHERS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isRead]);
}

const OTHERS_AFTER_MS = 1_500;

/** What could not be asked without a connection. */
function useAskAgain(): void {
  const queries = useQueryClient();
  const connection = useConnection();
  useEffect(() => {
    if (connection !== 'live') return;
    void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.error !== null });
  }, [connection, queries]);
}

function useShellKeys(go: (path: string) => void, open: (what: Opened) => void): void {
  const bindings = useMemo<readonly KeyBinding[]>(
    () => [
      ...pageEntries.map(({ path, title, key }): KeyBinding => ({
        keys: [`g ${key}`],
        does: `Go to ${title}`,
        run: () => go(path),
      })),
      { keys: ['?'], does: 'Show the keys', run: () => open('help') },
    ],
    [go, open],
  );
  useKeys('Pages', bindings);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) open('palette');
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [open]);
}

interface PageLinkProps {
  readonly path: string;
  readonly title: string;
  readonly location: string;
}

function PageLink({ path, title, location }: PageLinkProps) {
  return (
    <Link
      href={path}
      className={styles.entry}
      data-first={isFirst(path)}
      aria-current={location.startsWith(path) ? 'page' : undefined}
    >
      <Icon of={path} />
      <span>{title}</span>
      {path === '/inbox' && <NeedingCount />}
    </Link>
  );
}

function NeedingCount() {
  const task = useRecords('task');
  const session = useRecords('session');
  const landing = useRecords('landing');
  const count = useMemo(() => countNeeding({ task, session, landing }), [task, session, landing]);
  if (count === 0) return null;
  return (
    <span className={styles.count} aria-label={`${count} waiting for you`} role="img">
      {count}
    </span>
  );
}
