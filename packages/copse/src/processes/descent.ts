import type { ProcessIdentity } from '../kernel/process.ts';
import type { RunningProcess } from './identity.ts';

/**
 * The roots that still run, all that descend from them, and all that belong to a session one of these leads: a child that
 * lost its parent has another one now, but stays in its session. A root whose pid another process has now is left out.
 */
export function descent(
  roots: readonly ProcessIdentity[],
  running: readonly RunningProcess[],
): ReadonlyMap<number, RunningProcess> {
  const began = new Map(roots.map(({ pid, startTime }) => [pid, startTime]));
  const below = new Map<number, RunningProcess[]>();
  for (const one of running) {
    for (const above of new Set([one.parent, one.session])) {
      const others = below.get(above);
      if (others === undefined) below.set(above, [one]);
      else others.push(one);
    }
  }
  const found = new Map<number, RunningProcess>();
  const waiting = running.filter(({ pid, startTime }) => began.get(pid) === startTime);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next.pid)) continue;
    found.set(next.pid, next);
    waiting.push(...(below.get(next.pid) ?? []));
  }
  return found;
}
