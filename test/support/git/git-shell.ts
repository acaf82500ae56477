/**
 * Starts git for a test, and waits for it. To start a program, Node.js copies what it has in memory: milliseconds for each git, and
 * the tests start tens of thousands. A shell that stands by for this process has nothing to copy.
 *
 * It reads a line when there is something to do, does what is in the file `command`, and answers with the exit code. It ends
 * with this process, and its own folder is none that a test looks into.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';

import { shellQuoted } from '../../../packages/copse/src/kernel/shell.ts';
import { plainEnv } from '../plain-env.ts';
import { scratchFolder } from '../scratch.ts';
import { revParse } from './loose-refs.ts';

export interface GitOrders {
  readonly cwd: string;
  readonly argv: readonly string[];
  /** Besides the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer | undefined;
}

export interface GitEnd {
  readonly status: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Git starts another one after every commit and merge, to see whether there is garbage. In what lives for a test there is none. */
const usualEnv = {
  ...plainEnv,
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'maintenance.auto',
  GIT_CONFIG_VALUE_0: 'false',
};

const STAND_BY = `
exec 3<"$0/asked" 4>"$0/done"
while read -r _ <&3; do . "$0/command" <"$0/in" >"$0/out" 2>"$0/err"; echo $? >&4; done
rm -rf "$0"
`;

interface Shell {
  readonly folder: string;
  readonly asked: number;
  readonly done: number;
}

let shell: Shell | undefined;

export function runGit({ cwd, argv, env = {}, input = '' }: GitOrders): GitEnd {
  const known = revParse(cwd, argv);
  if (known !== undefined) return { status: 0, stdout: Buffer.from(`${known}\n`), stderr: '' };
  const { folder, asked, done } = (shell ??= startShell());
  const file = (name: string) => path.join(folder, name);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${shellQuoted(value)}`);
  const words = ['git', '-C', cwd, ...argv].map(shellQuoted);
  writeFileSync(file('command'), `${[...variables, ...words].join(' ')}\n`);
  writeFileSync(file('in'), input);
  writeSync(asked, '\n');
  const said = Buffer.alloc(8);
  const status = Number(said.toString('latin1', 0, readSync(done, said)));
  return { status, stdout: readFileSync(file('out')), stderr: readFileSync(file('err'), 'utf8') };
}

function startShell(): Shell {
  const folder = mkdtempSync(path.join(scratchFolder(), 'copse-shell-'));
  const [asked, done] = [path.join(folder, 'asked'), path.join(folder, 'done')];
  spawnSync('mkfifo', [asked, done]);
  // Not a child of this process: what a test ends with all its descendants must not include the shell.
  spawnSync('sh', ['-c', `{ ${STAND_BY} } &`, folder], { cwd: '/', env: usualEnv, stdio: 'ignore' });
  // Each waits until the shell has opened it, in this order.
  return { folder, asked: openSync(asked, 'w'), done: openSync(done, 'r') };
}
