/** A board of version 3: as before, and a session from the time when nobody counted what they use. */

import { version2 } from './version-2.ts';

export const version3 = {
  ...version2,
  board: [{ id: 'b0a7d', version: 3, created_at: 1_700_000_000_000, last_event: 4 }],
  sessions: [
    {
      id: 'se-old1',
      data: '{"id":"se-old1","task":"cp-old1","agent":"coder","workItem":null,"follows":null,"conversation":null,"startedAt":1700000000900,"state":{"life":"live","phase":"working","attention":null}}',
      task: 'cp-old1',
      created_at: 1_700_000_000_900,
      agent: 'coder',
      work_item: null,
      life: 'live',
    },
  ],
  events: [
    ...version2.events,
    {
      number: 4,
      at: 1_700_000_000_900,
      type: 'session.opened',
      subject: 'se-old1',
      task: 'cp-old1',
      data: '{"by":{"kind":"person","name":null},"event":{"type":"session.opened","id":"se-old1","at":1700000000900,"task":"cp-old1","agent":"coder","workItem":null,"follows":null,"phase":"working"}}',
    },
  ],
} as const;
