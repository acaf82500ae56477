/** Calls of the operations on the set-up. */

import type { ChangingCalls, ReadingCalls } from './call.ts';

export const readingSetup: ReadingCalls = {
  'config.show': () => [
    { argv: ['config', 'show'], input: {} },
    { argv: ['config'], input: {} },
  ],
  'config.check': () => [{ argv: ['config', 'check'], input: {} }],
  'config.schema': () => [{ argv: ['config', 'schema'], input: {} }],
  'config.pending': () => [{ argv: ['config', 'pending'], input: {} }],
  'machine.check': () => [{ argv: ['doctor'], input: {}, mayFail: true }],
};

export const changingSetup: ChangingCalls = {
  'config.accept': () => ({ argv: ['config', 'accept', '--yes'], input: { version: 'x' } }),
  'config.accept_remotes': () => ({ argv: ['config', 'accept-remotes'], input: {} }),
  'notice.test': () => ({ argv: ['notify', '--test'], input: {}, mayFail: true }),
};
