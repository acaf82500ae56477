/** A board of version 7: as before, and a request that a trigger got. */

import { version6 } from './version-6.ts';

const at = 1_700_000_004_000;
const by = { kind: 'person', name: null };
const delivery = { id: 'hook/1', trigger: 'hook', at, task: null, source: 'github' };
const received = { type: 'delivery.received', ...delivery };
const number = version6.events.length + 1;

export const version7 = {
  ...version6,
  board: version6.board.map((board) => ({ ...board, version: 7, last_event: number })),
  deliveries: [{ id: delivery.id, data: JSON.stringify(delivery), created_at: at }],
  events: [
    ...version6.events,
    {
      number,
      at,
      type: received.type,
      subject: delivery.id,
      task: null,
      data: JSON.stringify({ by, event: received }),
    },
  ],
};
