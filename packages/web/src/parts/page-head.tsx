/** The heading of a page with what belongs beside it: at the same place on every page, also while the page loads. */

import type { PropsWithChildren } from 'react';

import styles from './page-head.module.css';

interface PageHeadProps {
  readonly title: string;
  readonly className?: string | undefined;
}

export function PageHead({ title, className, children }: PropsWithChildren<PageHeadProps>) {
  return (
    <header className={`${styles.head} ${className ?? ''}`}>
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </header>
  );
}
