/** Whether a program that a sandbox needs works on this machine. */

import { spawn } from 'node:child_process';

import { defaultPolicy } from '../../kernel/policy.ts';

const limits = defaultPolicy.sandboxTries;

interface Try {
  readonly answer: Promise<string | null>;
  /** Undefined while it runs. */
  endedMs?: number;
}

const known = new Map<string, Try>();

/** Null when it works, otherwise its last line of output. An answer is kept for a while: Docker may be started meanwhile. */
export async function tryOnce(
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const key = JSON.stringify(argv);
  const before = known.get(key);
  const isOld = performance.now() - (before?.endedMs ?? Infinity) > limits.keptMs;
  if (before !== undefined && !isOld) return before.answer;
  const tried: Try = { answer: whyNot(argv, env) };
  known.set(key, tried);
  const answer = await tried.answer;
  tried.endedMs = performance.now();
  return answer;
}

function whyNot(
  [file, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'], timeout: limits.mostMs });
    let said = '';
    child.stderr?.on(
      'data',
      (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-limits.textLength)),
    );
    child.once('error', (error) => resolve(error.message));
    // A process that it left may hold its output open.
    child.once('exit', () => setTimeout(() => child.stderr?.destroy(), limits.lastMs).unref());
    child.once('close', (code) => {
      const last = said
        .trim()
        .replace(/[.\s]+$/, '')
        .split('\n')
        .at(-1);
      const ended = child.killed ? `did not answer within ${limits.mostMs / 1_000} s` : `ended with ${code}`;
      const why = last === undefined || last === '' ? `${file} ${ended}` : last;
      resolve(code === 0 ? null : why);
    });
  });
}
