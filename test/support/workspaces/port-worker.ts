/** A process that leases ports for one holder, says which, and ends. */

import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';

import { type BoardAddress, openBoard } from '../../../packages/copse/src/board/open.ts';
import { portProbe } from '../../../packages/copse/src/workspaces/files/port-probe.ts';
import { leasePorts } from '../../../packages/copse/src/workspaces/act/ports-of-sessions.ts';
import { type NodeId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';

const [address = '', holder = ''] = process.argv.slice(2);

const board = await openBoard(JSON.parse(address) as BoardAddress, defaultPolicy, {
  id: randomUUID(),
  at: Date.now(),
});
const outcome = await leasePorts(
  {
    board,
    clock: { now: () => timestamp(Date.now()) },
    random: Math.random,
    policy: defaultPolicy,
    by: { kind: 'person', name: null },
  },
  portProbe,
  { holder, node: brand<NodeId>('no-1'), count: 2 },
);
writeSync(1, JSON.stringify(outcome));
await board.close();
