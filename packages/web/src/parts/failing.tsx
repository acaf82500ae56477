/** What is shown instead of a part of the page that failed: why, and what to do. The rest of the page goes on. */

import { Component, type PropsWithChildren } from 'react';

import styles from './page-state.module.css';

interface FailingProps {
  readonly onError?: (error: unknown) => void;
}

interface State {
  readonly reason: string | null;
}

export class Failing extends Component<PropsWithChildren<FailingProps>, State> {
  override state: State = { reason: null };

  static getDerivedStateFromError(error: unknown): State {
    return { reason: error instanceof Error ? error.message : String(error) };
  }

  override componentDidCatch(error: unknown): void {
    this.props.onError?.(error);
  }

  override render() {
    const { reason } = this.state;
    if (reason === null) return this.props.children;
    return (
      <section className={styles.state} role="alert">
        <h2>This part of the page cannot be shown.</h2>
        <p>{reason}</p>
        <p>
          Load the page again. If that does not help, see what <code>copse serve</code> prints.
        </p>
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </section>
    );
  }
}
