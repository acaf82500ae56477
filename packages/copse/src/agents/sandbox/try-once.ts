/** Whether a program that a sandbox needs works on this machine. */

import { spawnSync } from 'node:child_process';

const TRY_MS = 10_000;
const known = new Map<string, string | null>();

/** Null when it works, otherwise its last line of output. Tried once for each process. */
export function tryOnce(
  [file, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const key = JSON.stringify([file, ...args]);
  const before = known.get(key);
  if (before !== undefined) return before;
  const { error, status, stderr } = spawnSync(file, args, {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: TRY_MS,
  });
  const said =
    (stderr as string | null)
      ?.trim()
      .split('\n')
      .at(-1)
      ?.replace(/[.\s]+$/, '') ?? '';
  const why = said === '' ? (error?.message ?? `${file} ended with ${status}`) : said;
  const answer = status === 0 ? null : why;
  known.set(key, answer);
  return answer;
}
