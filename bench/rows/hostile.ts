/**
 * Whether hostile agents hold honest ones up: the time until eight honest tasks have landed, alone and beside eight hostile ones,
 * in turns on one machine. Each turn has the next eight tricks of test/support/agents/hostile. Honest agents mostly wait, as for
 * a model, so that the figure tells whether Copse is held up, not whether the cores are full.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { openContext } from '../../packages/copse/src/compose/open.ts';
import { type TaskId, brand } from '../../packages/copse/src/kernel/ids.ts';
import { type FleetTask, addTasks, newFleet } from '../../test/support/agents/hostile/fleet.ts';
import { tricks } from '../../test/support/agents/hostile/tricks.ts';
import { plainEnv } from '../../test/support/plain-env.ts';
import { bundle } from '../commands.ts';
import { type Bench, type Row, inMs, median } from '../row.ts';

const AT_ONCE = 8;
/** An honest agent waits so long before each of its two commits. */
const SECONDS = 10;
const LOOK_MS = 100;

export const hostile: Row = {
  name: 'hostile',
  timeoutMs: 2_400_000,
  async measure(bench) {
    const all = Object.entries(tricks).map(([title, { agent = 'hostile' as const }]) => ({ title, agent }));
    const turns = bench.isQuick ? 2 : Math.ceil(all.length / AT_ONCE);
    const times: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] };
    for (let turn = 0; turn < turns; turn += 1) {
      const eight = all.slice(turn * AT_ONCE, (turn + 1) * AT_ONCE);
      const both = { alone: [], beside: eight } as const;
      for (const name of turn % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const))
        times[name].push(await honestTime(bench, both[name]));
    }
    const [aloneMs, besideMs] = [median(times.alone), median(times.beside)];
    return [
      {
        what: `${AT_ONCE} honest tasks beside ${AT_ONCE} hostile agents, of ${turns} turns the median`,
        measured: inMs(besideMs),
        against: `alone: ${inMs(aloneMs)}`,
        figure: besideMs / aloneMs,
        goal: { atMost: 1.5, unit: '×' },
        limit: 1,
      },
      {
        what: 'the slowest of these turns',
        measured: inMs(Math.max(...times.beside)),
        against: `alone, the slowest: ${inMs(Math.max(...times.alone))}`,
        figure: Math.max(...times.beside) / Math.max(...times.alone),
        goal: { atMost: 1.5, unit: '×' },
        limit: 1,
      },
    ];
  },
};

/** From the start of the orchestrator until the last honest task has landed, in ms. */
async function honestTime(bench: Bench, beside: readonly FleetTask[]): Promise<number> {
  const fleet = newFleet(await bench.newFolder(), { atOnce: AT_ONCE, seconds: SECONDS });
  const honest = Array.from({ length: AT_ONCE }, (_, at) => `honest ${at}`);
  const mixed = honest.flatMap((title, at) => [beside[at] ?? [], { title, agent: 'honest' as const }].flat());
  const ids = await addTasks(fleet, mixed);
  const context = await openContext({ cwd: fleet.folder, env: { USER: 'ada' } });
  const hasLanded = async (title: string) => {
    const task = await context.board.get('task', brand<TaskId>(ids.get(title) ?? ''));
    return task?.state.status === 'done';
  };
  const beganMs = performance.now();
  const loop = startLoop(bench, fleet.folder);
  const ended = new Promise((resolve) => loop.once('exit', resolve));
  try {
    for (const title of honest) {
      while (!(await hasLanded(title))) {
        if (loop.exitCode !== null) throw new Error(`${title} did not land`);
        await sleep(LOOK_MS);
      }
    }
    return performance.now() - beganMs;
  } finally {
    // The hostile agents come to their ends, so that none of them is left.
    await ended;
    await context.board.close();
  }
}

function startLoop(bench: Bench, cwd: string): ChildProcess {
  const [node, ...argv] = bundle;
  const child = spawn(node, [...argv, 'orchestrate', '--until-idle'], {
    cwd,
    env: plainEnv,
    stdio: 'ignore',
  });
  bench.atEnd(() => child.kill('SIGKILL'));
  return child;
}
