/** A board of version 6: as before, with a node that told what it can do. */

import { version5 } from './version-5.ts';

const node = { id: 'n-old', name: 'laptop', joinedAt: 1_700_000_002_000, leftAt: null };
const filled = { facts: null, clockOffsetMs: null, drain: null };

export const version6 = {
  ...version5,
  board: [{ id: 'b0a7d', version: 6, created_at: 1_700_000_000_000, last_event: 5 }],
  nodes: version5.nodes.map((row) => ({ ...row, data: JSON.stringify({ ...node, ...filled }) })),
};
