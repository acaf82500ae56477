/**
 * The process that owns one attempt. It outlives the orchestrator and the terminal that started it. On SIGTERM it ends its
 * agent and itself; the next orchestrator records that as a crash.
 */

import { writeStopped } from '../agents/files/attempt-files.ts';
import { type AttemptEnd, runAttempt } from '../agents/run/attempt.ts';
import { BoardAway, BoardTooNew } from '../board/port.ts';
import { announceBeside } from './notices.ts';
import { type AttemptSurroundings, openAttempt } from './run/attempt.ts';

export async function main(ordersFile: string): Promise<number> {
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGHUP', () => {});
  process.on('SIGINT', () => {});
  const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
  const end = await run(ordersFile, { cwd: process.cwd(), env: process.env, stop: stop.signal, log });
  log(`Ended: ${endText(end)}`);
  // Last: closing the attempt deletes its files.
  if (end.kind === 'outdated' || end.kind === 'cut_off')
    writeStopped(ordersFile, { because: end.kind, reason: end.reason });
  return 0;
}

function endText(end: AttemptEnd): string {
  if (end.kind === 'lost') return 'its task was paused, cancelled or taken over';
  const words = end.kind.replaceAll('_', ' ');
  return 'reason' in end ? `${words}: ${end.reason}` : words;
}

async function run(
  ordersFile: string,
  process: Omit<AttemptSurroundings, 'onCutOff' | 'hasGivenUp'>,
): Promise<AttemptEnd> {
  let attempt;
  const telling = new AbortController();
  const [cutOff, over] = [new AbortController(), new AbortController()];
  const hasGivenUp = AbortSignal.any([process.stop, cutOff.signal, over.signal]);
  const surroundings = { ...process, onCutOff: () => cutOff.abort(), hasGivenUp };
  let told;
  try {
    attempt = await openAttempt(ordersFile, surroundings);
    const onProblem = (reason: string) => surroundings.log(`Notifications: ${reason}`);
    told = announceBeside(surroundings, attempt.context, { signal: telling.signal, onProblem });
    return await runAttempt(attempt.context, attempt.orders);
  } catch (error) {
    if (error instanceof BoardTooNew) return { kind: 'outdated', reason: error.message };
    if (error instanceof BoardAway && cutOff.signal.aborted)
      return { kind: 'cut_off', reason: error.message };
    throw error;
  } finally {
    telling.abort();
    // Notices do not keep a runner from ending.
    over.abort();
    await told;
    await attempt?.close();
  }
}
