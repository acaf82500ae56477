/** Errors of PostgreSQL and of the way to it, explained to people. */

import { shellWord } from '../../kernel/shell.ts';
import { BoardAway, BoardUnavailable } from '../port.ts';

export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export const LOCK_TIMEOUT = '55P03';

/** Explains a lost connection of any query. */
export function explainedLoss(error: unknown, location: string): unknown {
  if (error instanceof BoardUnavailable || !isLost(error)) return error;
  return new BoardAway(
    `The connection to the board at ${location} was lost: ${messageOf(error)}.`,
    'copse events --last 5 # to see whether the change was recorded, before you repeat it',
    { cause: error },
  );
}

/** The server shuts down or starts (57P0), the connection failed (08), a statement took too long (57014). */
const LOST_STATES = /^(57P0|08|57014|25P03|25P04)/;
const LOST_CODES = /^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|HOSTDOWN|AI_AGAIN)|^EAI_AGAIN/;
/** Messages of the driver for errors without a code. */
const LOST = /connection (terminated|error)|not queryable|client was closed|timeout (expired|exceeded)/i;
const TOO_MANY = '53300';

function isLost(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  return (
    state === TOO_MANY || LOST_STATES.test(state) || LOST_CODES.test(state) || LOST.test(messageOf(error))
  );
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // One for each address of a host, each with its own message.
  if (error.message === '' && error instanceof AggregateError) return messageOf(error.errors[0]);
  return error.message === '' ? (sqlState(error) ?? error.name) : error.message;
}

/** Explains why no connection came about. The driver's messages name host and user but never the password. */
export function explained(error: unknown, location: string): unknown {
  if (error instanceof BoardUnavailable || !(error instanceof Error)) return error;
  const said = messageOf(error);
  const why = whyRefused(error, said);
  if (why !== undefined)
    return new BoardUnavailable(`The board at ${location} cannot be used: ${why.reason}.`, why.remedy, {
      cause: error,
    });
  const Kind = isLost(error) ? BoardAway : BoardUnavailable;
  return new Kind(
    `The board at ${location} cannot be reached: ${said}.`,
    sqlState(error) === TOO_MANY
      ? 'Raise max_connections of PostgreSQL: each machine needs 5, and each agent one for a moment every 5 s.'
      : 'copse doctor # after you check that PostgreSQL runs and that the address in COPSE_BOARD or copse.yml is right',
    { cause: error },
  );
}

interface WhyRefused {
  readonly reason: string;
  readonly remedy: string;
}

const CERTIFICATE = /^(SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_|ERR_TLS_)/;

/** The server names the database that it does not have. */
function createCommand(said: string): string {
  const [, name = 'copse'] = /"(.+)"/s.exec(said) ?? [];
  return `createdb --encoding=UTF8 --template=template0 ${shellWord(name)}`;
}

function whyRefused(error: Error, said: string): WhyRefused | undefined {
  const state = sqlState(error) ?? '';
  if (state === '28P01' || /password must be a string|no password supplied/i.test(said))
    return {
      reason: `it did not accept the password (${said})`,
      remedy: 'Set the password in the address, in PGPASSWORD or in ~/.pgpass.',
    };
  if (/no encryption/.test(said))
    return {
      reason: `the server accepts only connections with TLS (${said})`,
      remedy:
        'Add ?sslmode=verify-full to the address, with &sslrootcert=<file> for a certificate authority of your own.',
    };
  if (state === '3D000')
    return {
      reason: said,
      remedy: `${createCommand(said)} # to create the database, if the address in COPSE_BOARD or copse.yml is right`,
    };
  if (/does not support SSL/.test(said))
    return {
      reason: 'the address asks for TLS, and the server offers none',
      remedy:
        'Set ssl = on in postgresql.conf, or leave sslmode out of the address on a network that you trust.',
    };
  if (state === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return {
      reason: `its certificate is for another host (${said})`,
      remedy:
        'Write the host in the address as the certificate has it, or use sslmode=verify-ca with sslrootcert.',
    };
  if (CERTIFICATE.test(state))
    return {
      reason: `its certificate is not trusted (${said})`,
      remedy: 'Name the file of its certificate authority in the address, with &sslrootcert=<file>.',
    };
  return undefined;
}
