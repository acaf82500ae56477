/** A board of version 6: as before, with what nodes tell since then. */

import { version5 } from './version-5.ts';

const at = 1_700_000_002_000;
const node = {
  id: 'n-old',
  name: 'laptop',
  joinedAt: at,
  leftAt: null,
  facts: null,
  clockOffsetMs: null,
  drain: null,
};

export const version6 = {
  ...version5,
  board: [{ id: 'b0a7d', version: 6, created_at: 1_700_000_000_000, last_event: 5 }],
  nodes: [{ id: node.id, data: JSON.stringify(node), created_at: at, seen_at: null }],
};
