/** Finished work: showing it, approving it, sending it back. */

import type { Operation } from '../operation.ts';

export const reviewOperations = {
  list: {
    name: 'review.list',
    title: 'List reviews',
    description: 'List the tasks that wait for review, the longest waiting first.',
    command: 'review',
    effect: 'reads',
    callers: ['person'],
    isRepeatable: true,
    http: { method: 'GET', path: '/reviews' },
    load: () => import('./list.ts'),
    shape: async () => (await import('./shapes.ts')).list,
  },
  show: {
    name: 'review.show',
    title: 'Show finished work',
    description: 'Show what would land of a task: files, patch, checks and conflicts.',
    command: 'review',
    effect: 'reads',
    callers: ['person'],
    isRepeatable: true,
    http: { method: 'GET', path: '/tasks/{task}/review' },
    load: () => import('./show.ts'),
    shape: async () => (await import('./shapes.ts')).show,
  },
  approve: {
    name: 'review.approve',
    title: 'Approve finished work',
    description: 'Approve the current commit of a task, so that it lands through the queue.',
    command: 'review',
    effect: 'changes',
    callers: ['person'],
    isRepeatable: true,
    http: { method: 'POST', path: '/tasks/{task}/approve' },
    load: () => import('./approve.ts'),
    shape: async () => (await import('./shapes.ts')).approve,
  },
  sendBack: {
    name: 'review.send_back',
    title: 'Send finished work back',
    description: 'Send a task back to its agent with a comment.',
    command: 'review',
    effect: 'changes',
    callers: ['person'],
    isRepeatable: false,
    http: { method: 'POST', path: '/tasks/{task}/send-back' },
    load: () => import('./send-back.ts'),
    shape: async () => (await import('./shapes.ts')).sendBack,
  },
} as const satisfies Readonly<Record<string, Operation>>;
