/** The board as a whole: its events, copies of it. */

import type { Operation } from '../operation.ts';

export const boardOperations = {
  events: {
    name: 'event.list',
    title: 'List events',
    description: 'Show a page of the events of the board, oldest first.',
    command: 'events',
    effect: 'reads',
    callers: ['person', 'session'],
    isRepeatable: true,
    http: { method: 'GET', path: '/events/page' },
    load: () => import('./events.ts'),
    shape: async () => (await import('./shapes.ts')).events,
  },
  backup: {
    name: 'board.backup',
    title: 'Back up the board',
    description: 'Copy the board now. An orchestrator also does this at its start and daily.',
    command: 'board backup',
    effect: 'changes',
    callers: ['person'],
    isRepeatable: false,
    http: { method: 'POST', path: '/board/backup' },
    load: () => import('./backup.ts'),
    shape: async () => (await import('./shapes.ts')).backup,
  },
  import: {
    name: 'board.import',
    title: 'Import a board',
    description: 'Read an exported board into an empty board.',
    command: 'import',
    effect: 'changes',
    callers: ['person'],
    isRepeatable: true,
    hasLargeInput: true,
    http: { method: 'POST', path: '/board/import' },
    load: () => import('./import.ts'),
    shape: async () => (await import('./shapes.ts')).importing,
  },
} as const satisfies Readonly<Record<string, Operation>>;
