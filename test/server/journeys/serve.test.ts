/** `copse serve` as a process: what it prints, the file of the token, signals, and where it refuses to listen. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { projectRoot } from '../../guards/working-copy.ts';
import { closeAtEnd } from '../../support/close-at-end.ts';
import { copse, finished, newArea, newRepository, plainEnv, startCopse } from '../../support/cli.ts';

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

async function serve(argv: readonly string[] = ['--port', '0'], cwd = newRepository(area)): Promise<Serving> {
  const home = mkdtempSync(path.join(area, 'home '));
  const child = startCopse(['serve', ...argv], { cwd, env: { HOME: home } });
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
    /^Serving the board at (\S+)\/api\/v1; .*\n.* the code (\S+)$/m.exec(printed) ?? [];
  const file = path.join(home, '.cache/copse-serve', `${new URL(url).port}.header`);
  return { child, home, cwd, url, code, file, printed: () => printed, ended };
}

// promise: server-secrets
test('it prints a code, keeps the token in a private file, and ends with a signal', async () => {
  const { child, url, code, file, home, printed, ended } = await serve();
  expect(printed()).toBe(
    `Serving the board at ${url}/api/v1; Ctrl+C stops.\n` +
      `  For another program, once, within 5 minutes: the code ${code}\n` +
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
  expect(readdirSync(path.join(home, '.cache/copse-serve'))).toEqual([]);
  expect(printed()).not.toContain(token);
});

test('another server in the same repository takes another port, unless one is named', async () => {
  const first = await serve([]);
  const second = await serve([], first.cwd);
  expect(second.url).not.toBe(first.url);
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
      stderr: expect.stringContaining('none.pem cannot be read') as string,
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
  const { url, file, child, ended } = await serve(['--port', '0'], cwd);
  const guide = readFileSync(path.join(projectRoot, 'docs/guides/server.md'), 'utf8');
  const lines = Array.from(guide.matchAll(/^curl .*$/gm), ([line]) => line).filter(
    (line) => !line.includes('$API'),
  );
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) {
    const whole = line
      .replaceAll('http://127.0.0.1:4747', url)
      .replaceAll('$HOME/.cache/copse-serve/4747.header', `'${file}'`);
    const ran = await runLine(whole, cwd);
    expect({ line, ...ran }).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/"tasks":\[|^data: |# TYPE|#code=|^ok$/m);
  }
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
});

test('five lines of curl add, list, explain and cancel tasks, as the README does with the command line', async () => {
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
  }
  const task = `cp-${first}`;
  expect(bodies).toMatchObject([
    { id: task, title: 'Rename the config loader', status: 'ready' },
    { title: 'Document the loader', status: 'pending', dependsOn: [task], priority: 'p5' },
    { tasks: [{ id: task }, { title: 'Document the loader' }], hasMore: false, cursor: null },
    { task: { id: task }, because: expect.arrayContaining([expect.stringMatching(/\S/)]) as string[] },
    { task: { id: task, status: 'cancelled' } },
  ]);
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
  cwd: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn('bash', ['-c', `exec ${line}`], { cwd, env: plainEnv });
  let stdout = '';
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString();
    if (line.includes(' -N ') && stdout.includes('data: ')) child.kill('SIGTERM');
  });
  const ended = await finished(child);
  return { ...ended, code: ended.code ?? 0 };
}
