/** Every page, loaded when it is opened first. The order is the order of the rail. */

import { type ComponentType, lazy } from 'react';

import type { DashboardPage } from '../../../copse/src/server/rules/web.ts';
import { loadAhead } from './new-files.ts';

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  /** Typed after `g`. */
  readonly key: string;
  readonly component: ComponentType;
  readonly load: () => Promise<unknown>;
}

export const pageEntries: readonly PageEntry[] = [
  entry('inbox', 'Inbox', 'i', () => import('../pages/inbox/page.tsx')),
  entry('board', 'Board', 'b', () => import('../pages/board/page.tsx')),
  entry('queue', 'Queue', 'q', () => import('../pages/queue/page.tsx')),
  entry('radar', 'Radar', 'r', () => import('../pages/radar/page.tsx')),
  entry('plans', 'Plans', 'p', () => import('../pages/plans/page.tsx')),
  entry('fleet', 'Fleet', 'f', () => import('../pages/fleet/page.tsx')),
  entry('health', 'Health', 'h', () => import('../pages/health/page.tsx')),
  entry('history', 'History', 't', () => import('../pages/history/page.tsx')),
];

/** In the bar of a phone; the others are behind More. */
export function isFirst(path: string): boolean {
  return path === '/inbox' || path === '/board' || path === '/queue';
}

const loadTask = () => import('../pages/task/page.tsx');

export const TaskPage = lazy(loadTask);

/** Once the first page is there: the others open at once, also while the server is away. */
export async function loadOtherPages(): Promise<void> {
  const loads = [...pageEntries.map(({ load }) => load), loadTask];
  for (const load of loads) await loadAhead(load);
}

/** The server answers only pages that it knows. */
function entry(
  path: Exclude<DashboardPage, 'tasks'>,
  title: string,
  key: string,
  load: () => Promise<{ readonly default: ComponentType }>,
): PageEntry {
  return { path: `/${path}`, title, key, component: lazy(load), load };
}
