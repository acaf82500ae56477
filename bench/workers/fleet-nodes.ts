/**
 * Some nodes with agents that only wait: each node has a board of its own, claims as an orchestrator does, renews the leases
 * of its agents, and records their ends. It speaks when it is ready, and works until it is killed.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import { beginAttempt } from '../../packages/copse/src/agents/act/begin-attempt.ts';
import type { Orders } from '../../packages/copse/src/agents/ports/runners.ts';
import { decideSession } from '../../packages/copse/src/agents/rules/session/session.ts';
import { change } from '../../packages/copse/src/board/context.ts';
import type { BoardAddress } from '../../packages/copse/src/board/open.ts';
import { decided } from '../../packages/copse/src/kernel/decision.ts';
import { type AgentName, type NodeId, brand } from '../../packages/copse/src/kernel/ids.ts';
import type { RunContext } from '../../packages/copse/src/queue/context.ts';
import { decideFinish } from '../../packages/copse/src/tasks/rules/outcomes.ts';
import { contextOf, openDurably } from '../boards.ts';
import { say } from '../processes.ts';

export interface FleetOrders {
  readonly address: BoardAddress;
  readonly first: number;
  readonly nodes: number;
  readonly agents: number;
  readonly workMs: number;
}

export interface FleetWork {
  readonly began: number;
  readonly finished: number;
  /** Another node was first. */
  readonly refused: number;
}

const AGENT = brand<AgentName>('worker');
const orders = JSON.parse(process.argv[2]!) as FleetOrders;
const work = { began: 0, finished: 0, refused: 0 };

const nodes = await Promise.all(
  Array.from({ length: orders.nodes }, (_, index) => openNode(`n-fleet-${orders.first + index}`)),
);
say(work);
await Promise.all(nodes.map((node) => run(node)));

async function openNode(name: string): Promise<RunContext> {
  const board = await openDurably(orders.address);
  const base = contextOf(board);
  const policy = {
    ...base.policy,
    orchestration: { ...base.policy.orchestration, maxAgents: orders.agents },
  };
  const node = brand<NodeId>(name);
  const agents = [{ name: AGENT, capabilities: [] }];
  const runners = { start: () => Promise.resolve() };
  // What claiming and finishing use of it, and nothing that starts git or an agent.
  return { ...base, policy, by: { kind: 'node', node }, node, agents, runners } as unknown as RunContext;
}

/** A pass for each change of the board, and not more than one at a time, as in the orchestrator. */
async function run(context: RunContext): Promise<void> {
  const { board, policy } = context;
  let wake = () => {};
  await board.onChange(() => wake());
  let running = 0;
  for (;;) {
    const changed = new Promise<void>((resolve) => (wake = resolve));
    const free = orders.agents - running;
    const ready =
      free === 0
        ? []
        : await board.tasks({
            statuses: ['ready'],
            order: 'urgent',
            due: context.clock.now(),
            limit: policy.orchestration.consideredAtOnce,
          });
    for (const { id } of ready.slice(0, free)) {
      const begun = await beginAttempt(context, id, AGENT, { kind: 'claim' });
      if (begun.kind === 'refused' || begun.value.kind !== 'started') {
        work.refused += 1;
        continue;
      }
      work.began += 1;
      running += 1;
      void live(context, begun.value.orders).then(() => (running -= 1), fail);
    }
    await Promise.race([changed, sleep(policy.orchestration.pollIntervalMs)]);
    await sleep(policy.orchestration.gatherMs);
  }
}

async function live(context: RunContext, { task: id, session, token, attempt }: Orders): Promise<void> {
  const untilMs = performance.now() + orders.workMs * (0.5 + Math.random());
  for (let leftMs = untilMs - performance.now(); leftMs > 0; leftMs = untilMs - performance.now()) {
    await sleep(Math.min(leftMs, context.policy.lease.renewEveryMs));
    await context.board.renewLease(id, token, context.clock.now());
  }
  const ended = await change({ ...context, by: { kind: 'session', session, token } }, async (change) => {
    const task = await change.require('task', id);
    await change.apply(
      decideFinish(task, token, { kind: 'done', how: 'no_changes', commit: null }, change.at),
    );
    const known = await change.require('session', session);
    await change.apply(decideSession(known, { action: 'complete' }, change.at));
    const of = { id: attempt, at: change.at, reason: 'completed', exitCode: 0 } as const;
    await change.apply(decided({ type: 'attempt.ended', ...of }));
  });
  if (ended.kind === 'refused') throw new Error(ended.refusal.reason);
  work.finished += 1;
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
