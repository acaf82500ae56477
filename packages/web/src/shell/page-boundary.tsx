/**
 * A page whose files cannot be loaded, or that fails while it is drawn, says so in its place: the rail, the other pages and what
 * is being answered stay. It goes away with the next page.
 */

import { Component, type PropsWithChildren, useEffect, useRef } from 'react';

import { Problem } from '../api/problem.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Refused } from '../parts/page-state.tsx';
import { useConnection } from '../store/hooks.tsx';
import { hasServer, isNotLoaded, reloadOnceIfUnloaded } from './new-files.ts';
import styles from './shell.module.css';

interface BoundaryState {
  readonly error: unknown;
}

interface BoundaryProps {
  readonly title: string;
}

export class PageBoundary extends Component<PropsWithChildren<BoundaryProps>, BoundaryState> {
  override state: BoundaryState = { error: undefined };

  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    reloadOnceIfUnloaded(error);
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Failed error={error} title={this.props.title} />;
  }
}

function Failed({ error, title }: BoundaryProps & BoundaryState) {
  const connection = useConnection();
  const isAway = isNotLoaded(error);
  // Only when the connection comes back: a file that is gone for good would load the page for ever.
  const before = useRef(connection);
  useEffect(() => {
    if (isAway && connection === 'live' && before.current !== 'live') void loadAgain();
    before.current = connection;
  }, [connection, isAway]);
  return (
    <div className={styles.loading}>
      <PageHead title={title} />
      <Refused problem={problemOf(error)} onAgain={() => void loadAgain()} />
    </div>
  );
}

/** Without a server the browser would show a page of its own in place of this one. */
async function loadAgain(): Promise<void> {
  if (await hasServer()) location.reload();
}

function problemOf(error: unknown): Problem {
  if (isNotLoaded(error))
    return new Problem({
      code: 'unreachable',
      status: 0,
      detail: 'This page could not be loaded: the server cannot be reached.',
      next: ['copse serve'],
    });
  const said = error instanceof Error ? error.message : String(error);
  return new Problem({ code: 'unknown', status: 0, detail: `This page failed: ${said}` });
}
