/** A board of version 2: the same task and ledger entry as before, and a resource that somebody holds. */

import { version1 } from './version-1.ts';

export const version2 = {
  ...version1,
  board: [{ id: 'b0a7d', version: 2, created_at: 1_700_000_000_000, last_event: 3 }],
  resources: [
    {
      id: 'port:n-1:4100',
      data: '{"id":"port:n-1:4100","holder":"cp-old1","token":1,"since":1700000000700,"heldUntil":null}',
      holder: 'cp-old1',
      held_until: null,
      created_at: 1_700_000_000_700,
    },
  ],
  events: [
    ...version1.events,
    {
      number: 3,
      at: 1_700_000_000_700,
      type: 'resource.taken',
      subject: 'port:n-1:4100',
      task: null,
      data: '{"by":{"kind":"person","name":null},"event":{"type":"resource.taken","id":"port:n-1:4100","at":1700000000700,"holder":"cp-old1","token":1,"until":null}}',
    },
  ],
} as const;
