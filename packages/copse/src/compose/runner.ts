/**
 * The process that owns one attempt. It outlives the orchestrator and the terminal that started it. On SIGTERM it ends its
 * agent and itself; the next orchestrator records that as a crash.
 */

import { runAttempt } from '../agents/run/attempt.ts';
import { openAttempt } from './run/attempt.ts';

export async function main(ordersFile: string): Promise<number> {
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGHUP', () => {});
  process.on('SIGINT', () => {});
  const attempt = await openAttempt(ordersFile, {
    cwd: process.cwd(),
    env: process.env,
    stop: stop.signal,
    log: (line) => console.log(`${new Date().toISOString()} ${line}`),
  });
  try {
    const { context, orders } = attempt;
    const end = await runAttempt(context, orders);
    context.log(`Ended: ${JSON.stringify(end)}`);
    return 0;
  } finally {
    await attempt.close();
  }
}
