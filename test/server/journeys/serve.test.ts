/** `copse serve` as a process: what it prints, the file of the token, signals, and where it refuses to listen. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { hasOtherServers, isOrchestratedAt } from '../../../packages/copse/src/compose/board/who-runs.ts';
import { projectRoot } from '../../guards/working-copy.ts';
import { closeAtEnd } from '../../support/close-at-end.ts';
import {
  answer,
  cliFile,
  copse,
  finished,
  newArea,
  newRepository,
  nodeFlags,
  plainEnv,
  startCopse,
} from '../../support/cli.ts';
import { sendRaw } from '../../support/server/served.ts';

const area = newArea();

interface Serving {
  readonly child: ChildProcess;
  readonly home: string;
  readonly cwd: string;
  readonly url: string;
  readonly code: string;
  readonly file: string;
  readonly printed: () => string;
  readonly ended: ReturnType<typeof finished>;
}

async function serve(
  argv: readonly string[] = ['--port', '0'],
  cwd = newRepository(area),
  home = mkdtempSync(path.join(area, 'home ')),
  env: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const child = startCopse(['serve', ...argv], { cwd, env: { ...env, HOME: home } });
  closeAtEnd(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
  child.stderr?.on('data', (text: Buffer) => (printed += text.toString()));
  const ended = finished(child);
  while (!printed.includes('/api/v1/snapshot')) {
    if (child.exitCode !== null) throw new Error(printed);
    await Promise.race([once(child.stdout ?? child, 'data'), ended]);
  }
  const [, url = '', code = ''] =
    /^Serving the board at (\S+)\/api\/v1; [^]*#code=(\S+)$/m.exec(printed) ?? [];
  const { hostname, port } = new URL(url);
  const host = hostname.replaceAll(/[[\]]/g, '').replaceAll(':', '_');
  const file = path.join(home, '.cache/copse-serve', `${host}-${port}.header`);
  return { child, home, cwd, url, code, file, printed: () => printed, ended };
}

// promise: server-secrets
test('it prints a code, keeps the token in a private file, and ends with a signal', async () => {
  const { child, url, code, file, home, cwd, printed, ended } = await serve();
  expect(printed()).toBe(
    `Serving the board at ${url}/api/v1; Ctrl+C stops.\n` +
      `  Repository: ${cwd}\n` +
      `  Open once in a browser, within 5 minutes: ${url}/#code=${code}\n` +
      `  curl -H @'${file}' ${url}/api/v1/snapshot\n`,
  );
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  const [authorization = '', token = ''] = /Bearer (\S+)/.exec(readFileSync(file, 'utf8')) ?? [];
  const tasks = await fetch(`${url}/api/v1/snapshot`, { headers: { authorization } });
  expect(await tasks.json()).toMatchObject({ tasks: [] });
  expect((await fetch(`${url}/api/v1/snapshot`)).status).toBe(401);
  const entered = await fetch(`${url}/api/v1/enter`, { method: 'POST', body: JSON.stringify({ code }) });
  expect(Object.keys((await entered.json()) as object)).toEqual(['token']);
  // A stream is open when the signal comes.
  const stream = await fetch(`${url}/api/v1/events?after=0`, { headers: { authorization } });
  const began = performance.now();
  child.kill('SIGTERM');
  await stream.text();
  const { code: exit } = await ended;
  expect(exit).toBe(0);
  // A second, and what a busy machine adds.
  expect(performance.now() - began).toBeLessThan(10_000);
  // The digests of pages stay for the next server; the token is gone.
  const left = readdirSync(path.join(home, '.cache/copse-serve'));
  expect(left).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.pages$/)]);
  expect(readFileSync(path.join(home, '.cache/copse-serve', left[0] ?? ''), 'utf8')).not.toContain(token);
  expect(printed()).not.toContain(token);
});

test('it serves also when its token cannot be written, as on a full disk, and ends as usual', async () => {
  const { port, close } = await freePort();
  const home = mkdtempSync(path.join(area, 'home '));
  const folder = path.join(home, '.cache/copse-serve');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(path.join(folder, `127.0.0.1-${port}.header`));
  await close();
  const child = startCopse(['serve', '--port', String(port)], {
    cwd: newRepository(area),
    env: { HOME: home },
  });
  closeAtEnd(() => child.kill('SIGKILL'));
  const ended = finished(child);
  let printed = '';
  child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
  await expect.poll(() => printed, { timeout: 20_000 }).toContain('No file has the token');
  const [, code = ''] = /#code=(\S+)/.exec(printed) ?? [];
  const enter = { method: 'POST', body: JSON.stringify({ code }) };
  expect((await fetch(`http://127.0.0.1:${port}/api/v1/enter`, enter)).status).toBe(200);
  child.kill('SIGINT');
  const { code: exit, stderr } = await ended;
  expect({ exit, stderr }).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining('could not be written') as string,
  });
  expect(readdirSync(folder).filter((name) => name.includes('.new'))).toEqual([]);
});

async function freePort(): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

test.skipIf(process.platform !== 'linux').each(['on a full disk', 'in a closed pipe'])(
  'a stranger does not end a server whose remarks cannot be written, %s',
  async (where) => {
    const line = `exec "$0" "$@"${where === 'on a full disk' ? ' 2>/dev/full' : ''}`;
    const argv = ['-c', line, process.execPath, ...nodeFlags, cliFile, 'serve', '--port', '0'];
    const child = spawn('sh', argv, { cwd: newRepository(area), env: { ...plainEnv, HOME: area } });
    closeAtEnd(() => child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
    while (!printed.includes('/api/v1/snapshot')) await once(child.stdout, 'data');
    child.stderr.destroy();
    const { origin, port } = new URL(/board at (\S+)\/api/.exec(printed)?.[1] ?? '');
    for (const host of ['x', 'y', 'z']) {
      const refused = sendRaw(Number(port), `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(await refused.ended).toMatch(/^HTTP\/1\.1 401 /);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    const ended = finished(child);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0 });
  },
);

test('another server in the same repository takes another port, unless one is named', async () => {
  const first = await serve([]);
  const second = await serve([], first.cwd);
  expect(second.url).not.toBe(first.url);
  expect(second.printed()).toMatch(/^  Port 4747 is in use, so this server has port \d+\.$/m);
  const { port } = new URL(first.url);
  const third = await copse(['serve', '--port', port], { cwd: first.cwd });
  expect(third).toMatchObject({ code: 1, stdout: '' });
  expect(third.stderr).toBe(
    `copse: Another program uses 127.0.0.1, port ${port}.\n    Any free port:\n  → copse serve --port 0\n`,
  );
  for (const { child } of [first, second]) child.kill('SIGINT');
  expect((await first.ended).code).toBe(0);
  expect((await second.ended).code).toBe(0);
});

test('a server knows whether another one of its clone runs', async () => {
  const { cwd, child, ended } = await serve();
  expect(await hasOtherServers(cwd)).toBe(true);
  expect(await isOrchestratedAt(cwd)).toBe(false);
  child.kill('SIGKILL');
  await ended;
  expect(await hasOtherServers(cwd)).toBe(false);
});

test('servers on two addresses of this machine keep their tokens apart', async () => {
  const first = await serve();
  const { port } = new URL(first.url);
  const before = readFileSync(first.file, 'utf8');
  const second = await serve(['--host', '127.0.0.2', '--port', port], first.cwd, first.home);
  expect(second.url).toBe(`http://127.0.0.2:${port}`);
  expect(readFileSync(first.file, 'utf8')).toBe(before);
  expect(readFileSync(second.file, 'utf8')).not.toBe(before);
  for (const { child } of [first, second]) child.kill('SIGINT');
  await Promise.all([first.ended, second.ended]);
});

// promise: server-secrets
test('--open opens the browser without a secret in the arguments of any program', async () => {
  const programs = mkdtempSync(path.join(area, 'programs '));
  const saw = path.join(programs, 'saw');
  writeFileSync(
    path.join(programs, 'xdg-open'),
    `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${saw}.part'\nmv '${saw}.part' '${saw}'\n`,
    { mode: 0o755 },
  );
  const cwd = newRepository(area);
  const home = mkdtempSync(path.join(area, 'home '));
  const env = { PATH: `${programs}:${plainEnv['PATH'] ?? ''}` };
  const { child, code, url, ended } = await serve(['--port', '0', '--open'], cwd, home, env);
  await expect.poll(() => existsSync(saw), { timeout: 20_000 }).toBe(true);
  const [count, argument = ''] = readFileSync(saw, 'utf8').split('\n');
  expect({ count, argument }).toEqual({
    count: '1',
    argument: expect.stringMatching(/^file:\/\/\//) as string,
  });
  expect(argument).not.toContain(code);
  const file = fileURLToPath(argument);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toContain(`content="0;url=${url}/#code=${code}"`);
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
  // The file that had the code is gone.
  expect(readdirSync(path.join(home, '.cache/copse-serve'))).toEqual([]);
});

test('--open without a program that opens says what to do', async () => {
  const git = spawnSync('which', ['git'], { encoding: 'utf8' }).stdout.trim();
  const programs = mkdtempSync(path.join(area, 'programs '));
  symlinkSync(git, path.join(programs, 'git'));
  const { child, ended, printed } = await serve(['--port', '0', '--open'], undefined, undefined, {
    PATH: programs,
  });
  await expect
    .poll(printed, { timeout: 20_000 })
    .toContain('There is no program xdg-open here. Open the address above');
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test.each([{ COPSE_SESSION_ID: 'se-x' }, { COPSE_SANDBOX: 'runtime' }, { COPSE_FOR_SESSION: '1' }])(
  'it does not start in a process of an agent: %j',
  async (env) => {
    const { code, stdout, stderr } = await copse(['serve'], { cwd: newRepository(area), env });
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('copse serve is for people');
  },
);

// promise: server-loopback
describe('it listens only on this machine without TLS', () => {
  const cwd = newRepository(area);

  test.each([
    [['--host', '0.0.0.0'], 'Without TLS'],
    [['--host', '::'], 'Without TLS'],
    [['--host', '192.0.2.1'], 'Without TLS'],
    [['--host', 'example.com'], 'Without TLS'],
    [['--host', '0.0.0.0', '--tls-cert', 'cert.pem'], '--tls-cert and --tls-key go together'],
    [['--behind-proxy', 'https://copse.example.com'], '--behind-proxy needs names of hosts'],
    [['--behind-proxy', '*'], '--behind-proxy needs names of hosts'],
    [['--port', '70000'], '--port must be a number'],
    [['--port', 'x'], '--port must be a number'],
  ])('so %j is refused', async (argv, reason) => {
    const { code, stdout, stderr } = await copse(['serve', ...argv], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });

  test('and a file that is no certificate is named', async () => {
    const missing = await copse(['serve', '--tls-cert', 'none.pem', '--tls-key', 'none.pem'], { cwd });
    expect(missing).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('There is no file none.pem.') as string,
    });
    writeFileSync(path.join(cwd, 'text.pem'), 'text\n');
    const argv = ['serve', '--tls-cert', 'text.pem', '--tls-key', 'text.pem'];
    expect((await copse(argv, { cwd })).stderr).toContain('--tls-cert has no certificate in PEM form');
  });
});

test('with a certificate it serves TLS, under the names of the certificate', async () => {
  const folder = mkdtempSync(path.join(area, 'tls '));
  const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const made = spawnSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
    ].concat(['-subj', '/CN=copse', '-addext', 'subjectAltName=DNS:copse.example.com,DNS:*.example.com']),
    { env: plainEnv, encoding: 'utf8' },
  );
  expect(made.status).toBe(0);
  const unfit = ['serve', '--port', '0', '--tls-cert', cert, '--tls-key', cert];
  expect(await copse(unfit, { cwd: newRepository(area) })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^copse: The certificate and the key cannot be used/) as string,
  });
  const { url, file, child, ended } = await serve(['--port', '0', '--tls-cert', cert, '--tls-key', key]);
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/);
  const { port } = new URL(url);
  const [authorization = ''] = /Bearer \S+/.exec(readFileSync(file, 'utf8')) ?? [];
  const status = (host: string, origin: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: '/api/v1/snapshot',
        ca: readFileSync(cert),
        servername: 'copse.example.com',
      };
      request({ ...options, headers: { host, origin, authorization } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  const own = `copse.example.com:${port}`;
  expect(await status(own, `https://${own}`)).toBe(200);
  expect(await status(own, `http://${own}`)).toBe(401);
  expect(await status(`other.example.com:${port}`, `https://${own}`)).toBe(401);
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test('the lines of the guide work as they stand there', async () => {
  const cwd = newRepository(area);
  await copse(['add', 'Read me'], { cwd });
  // The folder of the person has a space in its name.
  const { url, home, child, ended } = await serve(['--port', '0'], cwd);
  const { port } = new URL(url);
  const guide = readFileSync(path.join(projectRoot, 'docs/guides/server.md'), 'utf8');
  const lines = Array.from(guide.matchAll(/^curl .*$/gm), ([line]) => line).filter(
    (line) => !line.includes('$API'),
  );
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) {
    // zsh reads these outside of quotes as names of files.
    expect(line.replaceAll(/'[^']*'|"[^"]*"/g, '')).not.toMatch(/[?*[\]]/);
    const ran = await runLine(line.replaceAll('4747', port), { cwd, env: { ...plainEnv, HOME: home } });
    expect({ line, ...ran }).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/"tasks":\[|^data: |# TYPE|#code=|^ok$/m);
  }
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test('five lines of curl do what the README does with the command line: add, work, clean up, undo', async () => {
  const cwd = newRepository(area);
  const { url, home, child, ended } = await serve(['--port', '0'], cwd);
  const guide = readFileSync(path.join(projectRoot, 'docs/guides/server.md'), 'utf8');
  const [, block = ''] = /```sh\n(H=@[^`]*)```/.exec(guide) ?? [];
  const [setting = '', ...lines] = block.trim().split('\n');
  expect(lines).toHaveLength(5);
  const { port } = new URL(url);
  const bodies: unknown[] = [];
  let first = 'tzyn';
  for (const line of lines) {
    const script = `${setting}\n${line}`.replaceAll('4747', port).replaceAll('tzyn', first);
    const env = { ...plainEnv, HOME: home };
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' });
    expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: '' });
    bodies.push(JSON.parse(stdout));
    if (bodies.length === 1) first = (bodies[0] as { id: string }).id.slice(3);
    // What is only in the worktree must come back.
    if (bodies.length === 3) writeFileSync(path.join(cwd, '.worktrees', `cp-${first}`, 'mine.txt'), 'mine\n');
    if (bodies.length === 4) expect(readdirSync(path.join(cwd, '.worktrees'))).not.toContain(`cp-${first}`);
  }
  const task = `cp-${first}`;
  const worktree = path.join(cwd, '.worktrees', task);
  const branch = `${task}/rename-the-config-loader`;
  expect(bodies).toMatchObject([
    { id: task, title: 'Rename the config loader', status: 'ready' },
    { title: 'Document the loader', status: 'pending', dependsOn: [task], priority: 'p5' },
    { task, worktree, branch, reused: false },
    { removed: [{ task }], kept: [] },
    { task, worktree, branch },
  ]);
  expect(readFileSync(path.join(worktree, 'mine.txt'), 'utf8')).toBe('mine\n');
  const { tasks } = await answer<{ tasks: readonly object[] }>(['list'], { cwd });
  expect(tasks).toMatchObject([{ title: 'Rename the config loader' }, { title: 'Document the loader' }]);
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

// promise: server-once
test('a key outlives a server that was killed', async () => {
  const cwd = newRepository(area);
  const request = (url: string, file: string) => {
    const [authorization = ''] = /Bearer \S+/.exec(readFileSync(file, 'utf8')) ?? [];
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'once' };
    const body = JSON.stringify({ title: 'Once' });
    return fetch(`${url}/api/v1/tasks`, { method: 'POST', headers, body });
  };
  const killed = await serve(['--port', '0'], cwd);
  const first = await (await request(killed.url, killed.file)).text();
  killed.child.kill('SIGKILL');
  await killed.ended;
  const next = await serve(['--port', '0'], cwd);
  const again = await request(next.url, next.file);
  expect({ status: again.status, body: await again.text() }).toEqual({ status: 201, body: first });
  expect((await copse(['list', '--json'], { cwd })).stdout.match(/"title"/g)).toHaveLength(1);
  next.child.kill('SIGINT');
  expect((await next.ended).code).toBe(0);
});

/** `-N` follows until it is stopped: here, when the first event came. */
async function runLine(
  line: string,
  at: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn('bash', ['-c', `exec ${line}`], at);
  let stdout = '';
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString();
    if (line.includes(' -N ') && stdout.includes('data: ')) child.kill('SIGTERM');
  });
  const ended = await finished(child);
  return { ...ended, code: ended.code ?? 0 };
}
