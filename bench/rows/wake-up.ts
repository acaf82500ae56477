/** How soon one process sees what another recorded, and what waiting for it costs. */

import { setTimeout as sleep } from 'node:timers/promises';

import { claimNext } from '../../packages/copse/src/tasks/act/claims.ts';
import {
  type EngineName,
  claimRequest,
  contextOf,
  engines,
  fill,
  newAddress,
  openDurably,
} from '../boards.ts';
import { WorkerProcess } from '../processes.ts';
import { type Bench, type Result, type Row, inMs, median, quantile } from '../row.ts';
import type { Followed, IdleFor } from '../workers/follower.ts';

const SETTLE_MS = 300;
/** Between two events, so that every one of them has to wake the follower anew. */
const PAUSE_MS = 20;
const IDLE_MS = 2_000;

export const wakeUp: Row = {
  name: 'wake-up',
  async measure(bench) {
    const results: Result[] = [];
    for (const engine of engines) results.push(...(await measureOn(engine, bench)));
    return results;
  },
};

async function measureOn(engine: EngineName, bench: Bench): Promise<readonly Result[]> {
  const events = bench.isQuick ? 50 : 150;
  const address = await newAddress(bench, engine);
  await fill(address, { ready: events, done: 0 });
  const board = await openDurably(address);
  const follower = new WorkerProcess<IdleFor, Followed>(bench, 'follower.ts', JSON.stringify(address));
  await follower.answer();
  await sleep(SETTLE_MS);

  const latenciesMs: number[] = [];
  for (let event = 0; event < events; event += 1) {
    const beganNs = process.hrtime.bigint();
    await claimNext(contextOf(board), claimRequest('1'));
    const answer = await follower.answer();
    if (!('saw' in answer)) throw new Error('The follower said something else');
    latenciesMs.push(Number(BigInt(answer.atNs) - beganNs) / 1e6);
    await sleep(PAUSE_MS);
  }

  follower.ask({ ms: IDLE_MS });
  const idle = await follower.answer();
  if (!('coreShare' in idle)) throw new Error('The follower said something else');
  await follower.end();
  await board.close();

  const p95 = quantile(latenciesMs, 0.95);
  return [
    {
      what: `recorded here to seen there, ${engine}`,
      measured: `${inMs(median(latenciesMs))}, p95 ${inMs(p95)}`,
      against: '',
      figure: p95,
      goal: { atMost: 100, unit: 'ms' },
      limit: null,
    },
    {
      what: `idle follower, ${engine}`,
      measured: `${(idle.coreShare * IDLE_MS).toFixed(1)} ms of CPU in ${IDLE_MS / 1_000} s`,
      against: '',
      figure: idle.coreShare * 100,
      goal: { atMost: 1, unit: '% of a core' },
      limit: null,
    },
  ];
}
