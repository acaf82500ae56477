/**
 * The process that owns one attempt. It outlives the orchestrator and the terminal that started it. On SIGTERM it ends its
 * agent and itself; the next orchestrator records that as a crash.
 */

import { writeOutdated } from '../agents/files/attempt-files.ts';
import { type AttemptEnd, runAttempt } from '../agents/run/attempt.ts';
import { BoardTooNew } from '../board/port.ts';
import { announceBeside } from './notices.ts';
import { type AttemptSurroundings, openAttempt } from './run/attempt.ts';

export async function main(ordersFile: string): Promise<number> {
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGHUP', () => {});
  process.on('SIGINT', () => {});
  const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
  const end = await run(ordersFile, { cwd: process.cwd(), env: process.env, stop: stop.signal, log });
  log(`Ended: ${JSON.stringify(end)}`);
  // Last: closing the attempt deletes its files.
  if (end.kind === 'outdated') writeOutdated(ordersFile, end.reason);
  return 0;
}

async function run(ordersFile: string, surroundings: AttemptSurroundings): Promise<AttemptEnd> {
  let attempt;
  const telling = new AbortController();
  let told;
  try {
    attempt = await openAttempt(ordersFile, surroundings);
    const onProblem = (reason: string) => surroundings.log(`Notifications: ${reason}`);
    told = announceBeside(surroundings, attempt.context, { signal: telling.signal, onProblem });
    return await runAttempt(attempt.context, attempt.orders);
  } catch (error) {
    if (error instanceof BoardTooNew) return { kind: 'outdated', reason: error.message };
    throw error;
  } finally {
    telling.abort();
    await told;
    await attempt?.close();
  }
}
