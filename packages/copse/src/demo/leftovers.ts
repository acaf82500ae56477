/** Counts the processes and worktrees that the demo should have removed; the last runner may need a moment. */

import type { RunContext } from '../queue/context.ts';
import { parseTaskId } from '../kernel/ids.ts';
import type { DemoLeftovers } from './summary.ts';

const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 100;

export async function countLeftovers(context: RunContext): Promise<DemoLeftovers> {
  const { clock, git } = context;
  const until = clock.elapsedMs() + PATIENCE_MS;
  let processes = await countProcesses(context);
  while (processes > 0 && clock.elapsedMs() < until) {
    await clock.sleep(LOOK_EVERY_MS);
    processes = await countProcesses(context);
  }
  const worktrees = git.worktrees().filter(({ name }) => parseTaskId(name) !== undefined).length;
  return { processes, worktrees };
}

async function countProcesses({ board, occupancy, runners }: RunContext): Promise<number> {
  const pids = new Set<number>();
  for (const { id, process } of await board.list('attempt')) {
    if (process !== null && (await occupancy.isAlive(process))) pids.add(process.pid);
    for (const { pid } of await runners.processesOf(id)) pids.add(pid);
  }
  return pids.size;
}
