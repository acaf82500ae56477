/** Where a server listens, by the options of the command. */

import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

import { fail } from '../../../operations/failure.ts';
import { isHostName, isLoopbackName, isWildcard } from '../../../server/rules/entry.ts';
import type { ServerOptions } from '../../../server/server.ts';
import type { Cli } from '../../invocation.ts';
import { readInput } from '../../read-text.ts';

export interface PlaceOptions {
  readonly port?: string;
  readonly host?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindProxy?: readonly string[];
}

export type ListenPlace = Pick<ServerOptions, 'host' | 'port' | 'tls' | 'names' | 'proxied'>;

const LOOPBACK = '127.0.0.1';

/** Taken unless another program has it; then any free one. */
const USUAL_PORT = 4747;

/**
 * Anything but this machine itself needs TLS, here or in a proxy. Only the bound address is a name of the server: `localhost` also means
 * ::1, where another user of this machine can listen on the same port, and would get the token from a browser.
 */
export async function placeOf(cli: Cli, options: PlaceOptions): Promise<ListenPlace> {
  const { host: given = LOOPBACK, behindProxy: proxied = [] } = options;
  const host = given.toLowerCase() === 'localhost' ? LOOPBACK : given;
  if (isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0 && !isHostName(host))
    fail(
      'invalid',
      `--host must be an address or a name of this machine, not ${JSON.stringify(host)}.`,
      'copse serve --help',
    );
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
  // In clear, others on the network could read what comes under its own name: there, only the proxy has names.
  const hasOwnName = !isWildcard(host) && (tls !== null || isLoopbackName(host));
  const names = [...(hasOwnName ? [host] : []), ...(tls === null ? [] : namesOf(tls.cert))];
  if (names.length === 0 && proxied.length === 0)
    fail('invalid', `${host} is no name for clients, and the certificate has none.`, 'copse serve --help');
  return { host, port, tls, proxied, names };
}

function requirePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port >= 0 && port <= 65_535) return port;
  return fail('invalid', `--port must be a number up to 65535, not "${text}".`, 'copse serve --help');
}

async function tlsOf(cli: Cli, { tlsCert, tlsKey }: PlaceOptions): Promise<ServerOptions['tls']> {
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
