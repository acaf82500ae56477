/**
 * Whole runs under random kills: eight tasks, one or two orchestrators, and SIGKILL at random moments for an orchestrator, a
 * runner, a process of an agent, or everything at once. Then one orchestrator goes on until there is nothing left to do,
 * and everything has to be as if nobody had been killed.
 *
 * COPSE_SEED repeats a run, as far as processes can be repeated; COPSE_RUNS makes it more of them (`npm run test:survival`).
 */

import { setTimeout as sleep } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { newArea } from '../../support/cli.ts';
import { often } from '../../support/long.ts';
import { expectGoodEnd } from '../../support/agents/runs-checks.ts';
import { Run, canSeeProcesses, kill } from '../../support/agents/runs.ts';
import { drawing } from '../../support/workspaces/workspace-chance.ts';
import { forEachAtOnce } from '../../support/workspaces/workspace-processes.ts';

const RUNS = often({ short: 1, long: 2, variable: 'COPSE_RUNS' });
const AT_ONCE = 2;
/** Each run begins with another of them, and has all of them unless its tasks are done before. */
const VICTIMS = ['orchestrator', 'runner', 'agent', 'all'] as const;
const MOST_KILLS = 6;
/** Events of the board between two kills, at most; a run without kills has about 150. */
const APART = 40;
const MOMENT_MS = 150;

const first = process.env['COPSE_SEED'];
const seeds = Array.from(
  { length: first === undefined ? RUNS : Number(process.env['COPSE_RUNS'] ?? 1) },
  (_, index) => Number(first ?? Date.now() % 1_000_000) + index,
);

const area = newArea();

// promise: crash-loses-nothing
it.runIf(canSeeProcesses)(
  `${seeds.length} runs with kills at random lose nothing, land nothing twice and leave nothing behind`,
  () => forEachAtOnce(seeds, AT_ONCE, survive),
  RUNS * 60_000,
);

async function survive(seed: number): Promise<void> {
  const draw = drawing(seed);
  const kills = VICTIMS.length + Math.floor(draw() * (MOST_KILLS - VICTIMS.length + 1));
  await using run = await Run.open(area, {
    policy: { max_retries: kills + 2, max_agents: 2 + Math.floor(draw() * 3) },
    step: draw() < 0.5 ? 0.02 : 0.1,
  });
  const eighth = draw() < 0.6 ? 'nothing' : draw() < 0.5 ? 'stubborn' : 'hopeless';
  const third = seed % 2 === 0 ? 'crash' : 'wipe';
  await run.add('steps', 'dirt', third, 'fork', 'clash one', 'clash two', 'ask', eighth);
  const atOnce = draw() < 0.5 ? 1 : 2;
  const did: string[] = [];
  try {
    for (let count = 0; count < kills; count += 1) {
      while (run.orchestrators.filter(({ isRunning }) => isRunning).length < atOnce)
        run.orchestrate('--until-idle');
      if (!(await aMomentLater(run, draw))) break;
      did.push(await killOne(run, VICTIMS[(seed + count) % VICTIMS.length] ?? 'all', draw));
    }
    for (const one of run.orchestrators) if (one.isRunning) one.signal('SIGTERM');
    // 5: a task needs a person, `ask` for example.
    expect([0, 5]).toContain(await run.orchestrate('--until-idle').ended);
    await expectGoodEnd(run);
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`COPSE_SEED=${seed} (${did.join(', ')}): ${what}\n${await run.story()}`, {
      cause: error,
    });
  }
}

/** Counted in what happened and not in time, so that a busy machine is not killed before it began. False when all is over. */
async function aMomentLater(run: Run, draw: () => number): Promise<boolean> {
  const { board } = run.context;
  const until = (await board.lastEvent()) + 1 + draw() * APART;
  while ((await board.lastEvent()) < until) {
    if (!run.orchestrators.some(({ isRunning }) => isRunning)) return false;
    await sleep(5);
  }
  await sleep(draw() * MOMENT_MS);
  return true;
}

async function killOne(run: Run, victim: (typeof VICTIMS)[number], draw: () => number): Promise<string> {
  const one = <T>(list: readonly T[]): readonly T[] =>
    list.slice(Math.floor(draw() * list.length)).slice(0, 1);
  const living = run.orchestrators.filter(({ isRunning }) => isRunning).map(({ pid }) => pid);
  const candidates = {
    orchestrator: () => one(living),
    runner: async () => one(await run.runners()),
    agent: () => one(run.agents()),
    all: () => run.processes(),
  };
  const killed = (await candidates[victim]()).filter((pid) => kill(pid, 'SIGKILL'));
  return `${victim} ${killed.length}`;
}
