/** The command line in this process, at a terminal of lines and keys: cheaper than a pseudo-terminal, without signals. */

import { PassThrough, Writable } from 'node:stream';

import { expect } from 'vitest';

import packageJson from '../../packages/copse/package.json' with { type: 'json' };
import { main } from '../../packages/copse/src/cli/main.ts';
import { type RunOptions, plainEnv } from './cli.ts';

/** What the person waits for, and the keys that they type then; or what happens elsewhere meanwhile. */
export type Turn = readonly [seen: string, keys: string | (() => Promise<string>)];

/** Each turn waits for its text in what was printed since the turn before; resolves with everything that was printed. */
export async function typedInside(
  argv: readonly string[],
  { cwd, env }: RunOptions,
  dialogue: readonly Turn[],
): Promise<string> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const open = [...dialogue];
  let screen = '';
  let from = 0;
  const answer = () => {
    const [next] = open;
    const at = next === undefined ? -1 : screen.indexOf(next[0], from);
    if (next === undefined || at === -1) return;
    open.shift();
    from = screen.length;
    const [, keys] = next;
    // After the command waits for a key again.
    setImmediate(() => {
      if (typeof keys === 'string') stdin.write(keys);
      else void keys().then((typed) => stdin.write(typed));
    });
  };
  const stdout = Object.assign(
    new Writable({
      write(chunk: Buffer, _, done) {
        screen += chunk.toString();
        answer();
        done();
      },
    }),
    { isTTY: true, isPlain: true as const, columns: 80, rows: 24 },
  );
  Object.assign(process.env, plainEnv);
  const code = await main(argv, packageJson.version, {
    cwd,
    env: { ...plainEnv, PAGER: 'cat', ...env },
    stdin: () => stdin,
    stdout,
    stderr: stdout,
  });
  expect({ code, unanswered: open, screen }).toEqual({ code: 0, unanswered: [], screen });
  return screen;
}
