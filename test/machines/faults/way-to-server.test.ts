/** What may be between Copse and PostgreSQL besides a network: TLS, and poolers. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { describe, expect, inject, it, onTestFinished } from 'vitest';

import { copse, newArea, newRepository } from '../../support/cli.ts';
import { PLAIN_USER, freePort, startPostgres } from '../../support/board/postgres.ts';
import { scratchFolder } from '../../support/scratch.ts';

const area = newArea();

const has = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

function newFolder(): string {
  const folder = mkdtempSync(path.join(scratchFolder(), 'copse way '));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const run = (argv: readonly string[], board: string) =>
  copse(argv, { cwd: newRepository(area), env: { COPSE_BOARD: board } });

describe.runIf(has('pgbouncer'))('pgbouncer', () => {
  it.each([
    ['transaction', 1, /pooler that gives every transaction another connection \(pgbouncer with pool_mode/],
    ['statement', 1, /pooler|statement pooling/],
    ['session', 0, /^$/],
  ] as const)('with pool_mode = %s ends a command with %i', async (mode, code, said) => {
    const url = new URL(inject('postgresUrl'));
    const port = await startPgbouncer(url, mode);
    const board = `postgres://copse@127.0.0.1:${port}/postgres?schema=t_${randomBytes(6).toString('hex')}`;
    const added = await run(['add', 'One'], board);
    expect(added).toMatchObject({ code, stderr: expect.stringMatching(said) as unknown });
    if (mode === 'transaction') expect(added.stderr).toContain('pool_mode = session');
  });
});

async function startPgbouncer(to: URL, mode: string): Promise<number> {
  const folder = newFolder();
  const port = await freePort();
  const file = path.join(folder, 'pgbouncer.ini');
  writeFileSync(path.join(folder, 'users.txt'), '"copse" ""\n');
  writeFileSync(
    file,
    [
      '[databases]',
      `postgres = host=${to.hostname} port=${to.port} dbname=postgres user=copse`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `auth_file = ${path.join(folder, 'users.txt')}`,
      `pool_mode = ${mode}`,
      '',
    ].join('\n'),
  );
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: PLAIN_USER, gid: PLAIN_USER } : {};
  const child = spawn('pgbouncer', ['-q', file], { ...identity, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => end(child));
  await untilOpen(port);
  return port;
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null && child.kill('SIGKILL')) await ended;
}

async function untilOpen(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true)));
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await setTimeout(20);
  }
}

describe.runIf(has('openssl'))('TLS', () => {
  it('is used as the address asks for it, and each failure is explained', async () => {
    const { authority, certificate, key } = newCertificates();
    const server = await startPostgres({
      durable: false,
      flags: ['-c', 'ssl=on', '-c', `ssl_cert_file=${certificate}`, '-c', `ssl_key_file=${key}`],
    });
    onTestFinished(() => server.stop());
    const here = (query: string) => `${server.url.replace('127.0.0.1', 'localhost')}?${query}`;
    const doctor = async (board: string) => (await run(['doctor'], board)).stdout;

    expect(await doctor(here('sslmode=disable'))).toContain('no TLS');
    expect(await doctor(here('sslmode=require'))).toContain('TLSv1.3');
    expect(await doctor(here(`sslmode=verify-full&sslrootcert=${encodeURIComponent(authority)}`))).toContain(
      'TLSv1.3',
    );
    expect(await doctor(here('sslmode=verify-full'))).toMatch(/certificate is not trusted .*\n.*sslrootcert/);
    const byNumber = `${server.url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(authority)}`;
    expect(await doctor(byNumber)).toMatch(/certificate is for another host .*\n.*verify-ca/);
    expect(await doctor(byNumber.replace('verify-full', 'verify-ca'))).toContain('TLSv1.3');
    expect(await doctor(`${inject('postgresUrl')}?sslmode=require`)).toMatch(
      /the server offers none\.\n.*ssl = on/,
    );
  });
});

function newCertificates() {
  const folder = newFolder();
  const file = (name: string) => path.join(folder, name);
  const openssl = (...argv: readonly string[]) =>
    execFileSync('openssl', argv, { cwd: folder, stdio: 'ignore' });
  const fresh = ['req', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl(...fresh, '-x509', '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=An authority');
  openssl(...fresh, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  writeFileSync(file('san.cnf'), 'subjectAltName=DNS:localhost\n');
  const signed = [
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
  ];
  openssl(...signed, '-days', '2', '-extfile', 'san.cnf', '-out', 'server.pem');
  chmodSync(file('server.key'), 0o600);
  if (process.getuid?.() === 0)
    for (const name of ['server.key', 'server.pem']) chownSync(file(name), PLAIN_USER, PLAIN_USER);
  return { authority: file('ca.pem'), certificate: file('server.pem'), key: file('server.key') };
}
