/**
 * A process that uses a board as hard as it can, for tests that end it without warning. It says what the board has
 * acknowledged, one line each, and nothing before the board has: `claimed <task> <token>`, `wrote <entry>`.
 */

import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setTimeout } from 'node:timers/promises';

import { type BoardAddress, openBoard } from '../../../packages/copse/src/board/open.ts';
import { claimNext } from '../../../packages/copse/src/tasks/act/claims.ts';
import type { Context } from '../../../packages/copse/src/board/context.ts';
import { addLedgerEntry } from '../../../packages/copse/src/tasks/act/ledger.ts';
import {
  type AgentName,
  type AttemptId,
  type NodeId,
  type SessionId,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';

const [role, address, about] = process.argv.slice(2) as ['claim' | 'write', string, string];

const say = (line: string) => void writeSync(1, `${line}\n`);

process.on('uncaughtException', (error) => {
  say(`error ${error.stack ?? error.message}`);
  process.exit(1);
});

const board = await openBoard(JSON.parse(address) as BoardAddress, defaultPolicy, {
  id: randomUUID(),
  at: Date.now(),
});
const context: Context = {
  board,
  clock: { now: () => timestamp(Date.now()) },
  random: Math.random,
  policy: defaultPolicy,
  by: { kind: 'person', name: null },
};
// The only chance: it will be killed.
flushCompileCache();
say('ready');
await (role === 'claim' ? claimForever() : writeForever());

async function claimForever(): Promise<never> {
  for (;;) {
    const claimant = {
      session: brand<SessionId>(`se-${randomUUID()}`),
      attempt: brand<AttemptId>(`at-${randomUUID()}`),
      node: brand<NodeId>(`no-${process.pid}`),
      agent: brand<AgentName>('coder'),
    };
    const task = await claimNext(context, { claimant, capabilities: [] });
    if (task) say(`claimed ${task.id} ${task.token}`);
    else await setTimeout(20);
  }
}

async function writeForever(): Promise<never> {
  for (let count = 0; ; count += 1) {
    const text = `${process.pid} ${count}`;
    const outcome = await addLedgerEntry(context, brand<TaskId>(about), { kind: 'learning', text });
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
    say(`wrote ${outcome.value.id}`);
    await setTimeout(1);
  }
}
