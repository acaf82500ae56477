/** Calls of the operations on schedules, triggers, runs and sources. */

import type { ChangingCalls, KnownRecords, ReadingCalls } from './call.ts';

export function readingIntake(known: KnownRecords): ReadingCalls {
  return {
    'schedule.list': () => [{ argv: ['schedule', 'list'], input: {} }],
    'schedule.show': () =>
      ['nightly', 'c/yearly'].map((schedule) => ({
        argv: ['schedule', 'show', schedule],
        input: { schedule },
      })),
    'job.list': () => [
      { argv: ['jobs'], input: {} },
      { argv: ['jobs', '--all'], input: { all: true } },
      { argv: ['jobs', '--limit', '1'], input: { limit: 1 } },
    ],
    'job.show': () => [{ argv: ['jobs', 'show', known.job], input: { job: known.job } }],
    'source.list': () => [{ argv: ['sources', 'list'], input: {} }],
    'source.show': () => [{ argv: ['sources', 'show', 'lists'], input: { source: 'lists' } }],
  };
}

export const changingIntake: ChangingCalls = {
  'schedule.pause': () => ({ argv: ['schedule', 'pause', 'nightly'], input: { schedule: 'nightly' } }),
  'schedule.resume': () => ({ argv: ['schedule', 'resume', 'nightly'], input: { schedule: 'nightly' } }),
  'schedule.run': () => ({ argv: ['schedule', 'run', 'c/yearly'], input: { schedule: 'c/yearly' } }),
  'trigger.run': () => ({
    argv: ['trigger', 'c', '--prompt', 'Look', '--item', 'lists#9'],
    input: { trigger: 'c', prompt: 'Look', item: 'lists#9' },
  }),
  'source.sync': () => ({
    argv: ['sources', 'sync', 'lists'],
    input: { sources: ['lists'], dryRun: true },
  }),
};
