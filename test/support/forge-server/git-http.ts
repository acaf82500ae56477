/** A bare repository over HTTP, as forges serve it: `git http-backend` behind a name and a password. */

import { spawn } from 'node:child_process';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import path from 'node:path';

import { afterAll } from 'vitest';

import { git, plainEnv } from '../cli.ts';

export interface GitOverHttp {
  /** Without a name and a password; the repository is at `/octo/trees.git`. */
  readonly host: string;
}

export async function serveOverHttp(bare: string, credentials: string): Promise<GitOverHttp> {
  git(bare, 'config', 'http.receivepack', 'true');
  const accepted = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer((request, response) => {
    if (request.headers.authorization === accepted) serve(bare, request, response);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="forge"' }).end('who are you?');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  if (at === null || typeof at === 'string') throw new Error('There is no port');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${at.port}` };
}

/** As a CGI program has it: variables in, headers and a body out. */
function serve(bare: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://forge.invalid');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...plainEnv,
      GIT_PROJECT_ROOT: path.dirname(path.dirname(bare)),
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'ada',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin.on('error', () => {}));
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf('\r\n\r\n');
    const lines = whole.subarray(0, end).toString().split('\r\n');
    const headers = lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]);
    const status = Number(headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
    response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
    response.end(whole.subarray(end + 4));
  });
}
