/** `copse serve` of the built program, for a repository that a benchmark filled. */

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { bundle } from './commands.ts';
import type { Bench } from './row.ts';

export interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
  readonly authorization: string;
  /** An address that lets one browser in. */
  readonly address: (path: string) => Promise<string>;
  stop(): Promise<void>;
}

/** Resolves when it says where it listens. */
export async function serve(bench: Bench, repository: string, host = '127.0.0.1'): Promise<Serving> {
  const home = await bench.newFolder();
  const [program, ...args] = [...bundle, 'serve', '--port', '0', '--host', host];
  const child = spawn(program ?? '', args, {
    cwd: repository,
    env: { ...process.env, HOME: home, XDG_CACHE_HOME: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  bench.atEnd(() => child.kill('SIGKILL'));
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let printed = '';
    child.once('exit', () => reject(new Error(`copse serve ended: ${printed}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const [, at] = /at (http:\S+)\/api\/v1;/.exec(printed) ?? [];
      if (at !== undefined) resolve(at);
    });
  });
  const file = path.join(home, '.cache/copse-serve', `${host}-${new URL(url).port}.header`);
  const [authorization = ''] = /Bearer \S+/.exec(readFileSync(file, 'utf8')) ?? [];
  return {
    child,
    url,
    authorization,
    address: async (page) => {
      const got = await fetch(`${url}/api/v1/code`, { method: 'POST', headers: { authorization } });
      const { url: entrance } = (await got.json()) as { url: string };
      return `${url}${page}${new URL(entrance).hash}`;
    },
    async stop() {
      child.kill('SIGTERM');
      await over;
    },
  };
}
