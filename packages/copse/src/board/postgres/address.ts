/**
 * The address of a board on PostgreSQL: a URL as `psql` takes it, with the schema as one more parameter. TLS is asked for as
 * libpq does: `sslmode`, `sslrootcert`, `sslcert` and `sslkey` in the URL, or PGSSLMODE and so on in the environment. Without
 * any of them, a server on another machine is asked whether it offers TLS.
 */

import { homedir } from 'node:os';
import path from 'node:path';
import type { ConnectionOptions } from 'node:tls';

import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { BoardUnavailable } from '../port.ts';

export interface PostgresAddress {
  readonly connectionString: string;
  readonly schema: string;
  /** Without user and password. */
  readonly location: string;
  readonly ssl: ConnectionOptions | false;
  /** TLS is used if the server offers it. */
  readonly isSslOptional: boolean;
}

const SSL_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;
type SslParameter = (typeof SSL_PARAMETERS)[number];

export function parseAddress(text: string, env: NodeJS.ProcessEnv = process.env): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new BoardUnavailable(
      'The address of the board is not a PostgreSQL URL.',
      'Write it as postgres://user@host:5432/database in COPSE_BOARD or in copse.yml under board.',
    );
  }
  const schema = schemaOf(url);
  const given = (name: SslParameter) => url.searchParams.get(name) ?? env[`PG${name.toUpperCase()}`];
  const isHere = ['localhost', '127.0.0.1', '[::1]', ''].includes(url.hostname);
  const tls = tlsOf(given, isHere ? 'disable' : 'prefer');
  for (const name of ['schema', 'ssl', ...SSL_PARAMETERS]) url.searchParams.delete(name);
  const location = `postgres://${url.host}${url.pathname}${schema === 'copse' ? '' : `?schema=${schema}`}`;
  return { connectionString: url.href, schema, location, ...tls };
}

function schemaOf(url: URL): string {
  const schema = url.searchParams.get('schema') ?? 'copse';
  const isSystems = /^pg_|^information_schema$/.test(schema);
  if (!isSystems && /^[a-z_][a-z0-9_]{0,49}$/.test(schema)) return schema;
  throw new BoardUnavailable(
    isSystems
      ? `The schema ${schema} in the address of the board belongs to PostgreSQL itself.`
      : 'The schema in the address of the board is not a plain name.',
    'Use at most 50 lower-case letters, digits and underscores, as in ?schema=my_repository.',
  );
}

/** `require` encrypts, and verifies only if a certificate authority is named; so does libpq. */
function tlsOf(
  given: (name: SslParameter) => string | undefined,
  usual: 'disable' | 'prefer',
): Pick<PostgresAddress, 'ssl' | 'isSslOptional'> {
  const mode = given('sslmode') ?? (given('sslrootcert') ? 'verify-full' : usual);
  const files = filesOf(given);
  const unverified = { ...files, rejectUnauthorized: false };
  const anyHost = { ...files, checkServerIdentity: () => undefined };
  switch (mode) {
    case 'disable':
    case 'allow':
      return { ssl: false, isSslOptional: false };
    case 'prefer':
      return { ssl: unverified, isSslOptional: true };
    case 'no-verify':
      return { ssl: unverified, isSslOptional: false };
    case 'require':
      return { ssl: files.ca === undefined ? unverified : anyHost, isSslOptional: false };
    case 'verify-ca':
      if (files.ca !== undefined) return { ssl: anyHost, isSslOptional: false };
      throw new BoardUnavailable(
        'sslmode=verify-ca in the address of the board needs the certificate authority.',
        'Add &sslrootcert=<file> to the address, or use sslmode=verify-full.',
      );
    case 'verify-full':
      return { ssl: files, isSslOptional: false };
    default:
      throw new BoardUnavailable(
        `The address of the board has an unknown sslmode: ${mode}.`,
        'Use disable, prefer, require, verify-ca or verify-full.',
      );
  }
}

function filesOf(given: (name: SslParameter) => string | undefined): ConnectionOptions {
  const read = (name: SslParameter): string | undefined => {
    const file = given(name);
    if (file === undefined || file === '' || file === 'system') return undefined;
    const place = file.startsWith('~/') ? path.join(homedir(), file.slice(2)) : file;
    // Certificates are often links.
    const text = readIfPlain(place, { isFollowing: true });
    if (text !== undefined) return text;
    throw new BoardUnavailable(
      `The file of ${name} for the connection to the board cannot be read: ${file}.`,
      'Correct the path in COPSE_BOARD or in copse.yml under board, or its permissions.',
    );
  };
  const [ca, cert, key] = [read('sslrootcert'), read('sslcert'), read('sslkey')];
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}
