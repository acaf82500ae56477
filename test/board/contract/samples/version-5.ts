/** A board of version 5: as before, and a machine of which only the name is known. */

import { version4 } from './version-4.ts';

const at = 1_700_000_002_000;
const node = { id: 'n-old', name: 'laptop', joinedAt: at, leftAt: null };
const by = { kind: 'person', name: null };
const joined = { type: 'node.joined', id: node.id, at, name: node.name };
const { landings: _, ...others } = version4;

export const version5 = {
  ...others,
  board: [{ id: 'b0a7d', version: 5, created_at: 1_700_000_000_000, last_event: 5 }],
  nodes: [{ id: node.id, data: JSON.stringify(node), created_at: at, seen_at: null }],
  events: [
    ...version4.events.filter(({ number }) => number <= 4),
    {
      number: 5,
      at,
      type: joined.type,
      subject: node.id,
      task: null,
      data: JSON.stringify({ by, event: joined }),
    },
  ],
};
