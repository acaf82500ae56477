/**
 * Durable claims per second from many processes at once.
 *
 * Each claims in rounds of fixed length that all begin together; the first three warm up (the code is
 * compiled by use, and an orchestrator runs for days). In between, as many
 * processes commit a change of one row in the same way, which is as fast as the engine can be on this machine now.
 * What the claimers say they got is held against the board afterwards: a task that two of them got, or a claim the
 * board does not know, breaks the row.
 */

import type { BoardAddress } from '../../packages/copse/src/board/open.ts';
import { type EngineName, engines, fill, newAddress, openDurably } from '../boards.ts';
import { WorkerProcess } from '../processes.ts';
import { type Bench, type Result, type Row, median } from '../row.ts';
import type { ClaimFor, Claimed } from '../workers/claimer.ts';
import type { Committed } from '../workers/committer.ts';

const PROCESSES = 8;
/** More than any round was ever seen to need. */
const CLAIMS_PER_SECOND = 5_000;

const goals = { sqlite: { atLeast: 2_000, unit: '/s' }, postgres: { atLeast: 1_000, unit: '/s' } };
const limits = { sqlite: 3_500, postgres: null };

export const claims: Row = {
  name: 'claims',
  async measure(bench) {
    const results: Result[] = [];
    for (const engine of engines) results.push(await measureOn(engine, bench));
    return results;
  },
};

async function measureOn(engine: EngineName, bench: Bench): Promise<Result> {
  const roundMs = 1_000;
  const rounds = bench.isQuick ? 2 : 7;
  const warmUps = bench.isQuick ? 1 : 3;
  const address = await newAddress(bench, engine);
  await fill(address, { ready: ((warmUps + rounds) * roundMs * CLAIMS_PER_SECOND) / 1_000, done: 0 });
  const claimers = await startAll<Claimed>(bench, 'claimer.ts', address);
  const committers = await startAll<Committed>(bench, 'committer.ts', await newAddress(bench, engine));

  const claimed: Claimed[] = [];
  const claimsPerSecond: number[] = [];
  const commitsPerSecond: number[] = [];
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const { answers, perSecond } = await runRound(claimers, roundMs, ({ ids }) => ids.length);
    claimed.push(...answers);
    const peer = await runRound(committers, roundMs / 2, ({ commits }) => commits);
    if (round < warmUps) continue;
    claimsPerSecond.push(perSecond);
    commitsPerSecond.push(peer.perSecond);
  }
  await Promise.all([...claimers, ...committers].map((worker) => worker.end()));

  const figure = median(claimsPerSecond);
  return {
    what: `durable claims, ${PROCESSES} processes, ${engine}`,
    measured: `${Math.round(figure)} /s`,
    against: `one-row commits: ${Math.round(median(commitsPerSecond))} /s`,
    figure,
    goal: goals[engine],
    limit: limits[engine],
    broken: await findMistake(address, claimed),
  };
}

type Workers<Answer> = readonly WorkerProcess<ClaimFor, Answer>[];

async function startAll<Answer>(bench: Bench, file: string, address: BoardAddress): Promise<Workers<Answer>> {
  const workers = Array.from(
    { length: PROCESSES },
    () => new WorkerProcess<ClaimFor, Answer>(bench, file, JSON.stringify(address)),
  );
  await Promise.all(workers.map((worker) => worker.answer()));
  return workers;
}

/** All begin together; the round is over when the last has said what it did. */
async function runRound<Answer>(
  workers: Workers<Answer>,
  ms: number,
  countOf: (answer: Answer) => number,
): Promise<{ readonly answers: readonly Answer[]; readonly perSecond: number }> {
  const beganMs = performance.now();
  for (const worker of workers) worker.ask({ ms });
  const answers = await Promise.all(workers.map((worker) => worker.answer()));
  const seconds = (performance.now() - beganMs) / 1_000;
  return { answers, perSecond: answers.reduce((sum, answer) => sum + countOf(answer), 0) / seconds };
}

async function findMistake(address: BoardAddress, claimed: readonly Claimed[]): Promise<string | undefined> {
  if (claimed.some(({ ranOut }) => ranOut)) return 'there were too few tasks to claim';
  const ids = claimed.flatMap((claims) => claims.ids);
  const distinct = new Set(ids);
  if (distinct.size < ids.length) return `${ids.length - distinct.size} tasks were claimed twice`;

  const board = await openDurably(address);
  const held = await board.tasks({ statuses: ['in_progress'], order: 'urgent' });
  const firstClaims = held.filter(({ id, token }) => token === 1 && distinct.has(id)).length;
  const leases = await board.held();
  await board.close();
  if (held.length !== ids.length || firstClaims !== ids.length || leases.length !== ids.length) {
    return `${ids.length} claims were made, the board knows of ${held.length} and ${leases.length} leases`;
  }
  return undefined;
}
