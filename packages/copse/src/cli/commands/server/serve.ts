import { X509Certificate } from 'node:crypto';

import { boardMark, requireRepository } from '../../../compose/open.ts';
import { openServedBoard } from '../../../compose/board/serve.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import { isHostName, isLoopbackName, isWildcard } from '../../../server/rules/entry.ts';
import { type RunningServer, type ServerOptions, openServer } from '../../../server/server.ts';
import { type TokenFile, writeTokenFile } from '../../../server/token-file.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { readInput } from '../../read-text.ts';
import { waitForBoard } from '../../screen/wait-for-board.ts';

interface Options {
  readonly port?: string;
  readonly host?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindProxy?: readonly string[];
}

type ListenPlace = Pick<ServerOptions, 'host' | 'port' | 'tls' | 'names' | 'proxied'>;

/** Taken unless another program has it; then any free one. */
const USUAL_PORT = 4747;

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const place = await placeOf(cli, options);
  const waits = waitForBoard(cli);
  const onProblem = (text: string) => cli.output.note(shown(text));
  try {
    const { context, receive, withAccess, tokenFolder } = await openServedBoard(cli, {
      patience: waits.patience,
      onProblem,
    });
    try {
      const parts = { ...place, ...context, receive, withAccess, onProblem, version: cli.version };
      const server = await start(parts, options.port !== undefined);
      const tokenFile = tokenFolder && writeTokenFile(tokenFolder, server.port, server.keys.token);
      try {
        tell(cli, server, tokenFile);
        await untilEnd(cli, server, waits.stop.signal);
      } finally {
        if (tokenFile) tokenFile.remove();
        await server.close();
      }
    } finally {
      await context.board.close();
    }
  } finally {
    waits.end();
  }
}

function tell({ output }: Cli, { url, keys }: RunningServer, tokenFile: TokenFile | '' | undefined): void {
  output.line(`Serving the board at ${url}/api/v1; Ctrl+C stops.`);
  output.line(`  For another program, once, within 5 minutes: the code ${keys.newCode()}`);
  if (tokenFile) output.line(`  curl -H @${shellWord(tokenFile.file)} ${url}/api/v1/snapshot`);
  else output.note('There is no private folder for the token: only the code gives access.');
}

/** Until a signal; fails when the board cannot be followed any more. */
async function untilEnd(cli: Cli, server: RunningServer, signal: AbortSignal): Promise<void> {
  const repository = requireRepository(cli);
  const mark = boardMark(repository);
  let timer: NodeJS.Timeout | undefined;
  try {
    const isReplaced = await new Promise<boolean>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(false));
      timer = setInterval(() => boardMark(repository) === mark || resolve(true), LOOK_EVERY_MS);
      server.ended.catch(reject);
      if (signal.aborted) resolve(false);
    });
    if (isReplaced) fail('unavailable', 'The board was removed or replaced.', 'copse serve');
  } finally {
    clearInterval(timer);
  }
}

const LOOK_EVERY_MS = 2_000;

async function start(options: ServerOptions, isNamed: boolean): Promise<RunningServer> {
  try {
    return await openServer(options);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE' && !isNamed) return start({ ...options, port: 0 }, true);
    const where = `${options.host}, port ${options.port}`;
    if (code === 'EADDRINUSE')
      return fail('unavailable', `Another program uses ${where}.`, 'copse serve --port 0 # any free port');
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      return fail('unavailable', `This machine cannot listen on ${where} (${code}).`, 'copse serve');
    if (options.tls !== null && /OSSL|PEM|X509/.test(code))
      return fail('invalid', `The certificate and the key cannot be used (${code}).`, 'copse serve --help');
    throw error;
  }
}

/** Anything but this machine itself needs TLS, here or in a proxy. */
async function placeOf(cli: Cli, options: Options): Promise<ListenPlace> {
  const { host = '127.0.0.1', behindProxy: proxied = [] } = options;
  const tls = await tlsOf(cli, options);
  const wrong = proxied.find((name) => !isHostName(name));
  if (wrong !== undefined)
    fail('invalid', `--behind-proxy needs names of hosts, not "${wrong}".`, 'copse serve --help');
  if (!isLoopbackName(host) && tls === null && proxied.length === 0)
    fail(
      'invalid',
      `Without TLS, others on the network could read the token: ${host} is not this machine alone.`,
      'copse serve --help # see --tls-cert and --behind-proxy',
    );
  const port = options.port === undefined ? USUAL_PORT : requirePort(options.port);
  const own = isLoopbackName(host)
    ? [...new Set([host, '127.0.0.1', 'localhost'])]
    : isWildcard(host)
      ? []
      : [host];
  const names = [...own, ...(tls === null ? [] : namesOf(tls.cert))];
  if (names.length === 0 && proxied.length === 0)
    fail('invalid', `${host} is no name for clients, and the certificate has none.`, 'copse serve --help');
  return { host, port, tls, proxied, names };
}

function requirePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port >= 0 && port <= 65_535) return port;
  return fail('invalid', `--port must be a number up to 65535, not "${text}".`, 'copse serve --help');
}

async function tlsOf(cli: Cli, { tlsCert, tlsKey }: Options): Promise<ServerOptions['tls']> {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined)
    return fail('usage', '--tls-cert and --tls-key go together.', 'copse serve --help');
  return { cert: await readInput(cli, tlsCert), key: await readInput(cli, tlsKey) };
}

/** A certificate says under which names clients know the server. */
function namesOf(cert: string): readonly string[] {
  try {
    const { subjectAltName = '' } = new X509Certificate(cert);
    return Array.from(
      subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g),
      ([, name = '']) => name,
    ).filter((name) => !name.includes('*'));
  } catch {
    return fail('invalid', 'The file of --tls-cert has no certificate in PEM form.', 'copse serve --help');
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
