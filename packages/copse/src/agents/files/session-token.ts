/**
 * The token by which an agent calls a server of this clone over HTTP: its session, its fencing token, and a code that only this
 * clone can make. The key is in `.copse`, which a sandbox hides. Whether the session still holds its task, the board says.
 *
 * COPSE_TOKEN alone is no secret: it is a small number that events and other agents show.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type FencingToken, type SessionId, brand, fencingToken } from '../../kernel/ids.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';

export interface ClaimedSession {
  readonly session: SessionId;
  readonly token: FencingToken;
}

/** Undefined when this clone has no readable key: the agent then has no token. */
export function sessionToken(home: string, claimed: ClaimedSession): string | undefined {
  const key = keyOf(home);
  return key && `cs_${claimed.session}_${claimed.token}_${codeOf(key, claimed)}`;
}

/** The session that this clone gave the token to; undefined for any other text. */
export function readSessionToken(home: string, text: string): ClaimedSession | undefined {
  const [, session, number, code = ''] = /^cs_([a-z0-9-]{1,60})_(\d{1,15})_([\w-]{43})$/.exec(text) ?? [];
  if (session === undefined || number === undefined) return undefined;
  const key = readKey(home);
  const claimed = { session: brand<SessionId>(session), token: fencingToken(Number(number)) };
  if (key === undefined) return undefined;
  const isOurs = timingSafeEqual(Buffer.from(codeOf(key, claimed)), Buffer.from(code));
  return isOurs ? claimed : undefined;
}

function codeOf(key: Buffer, { session, token }: ClaimedSession): string {
  return createHmac('sha256', key).update(`copse session ${session} ${token}`).digest('base64url');
}

function keyOf(home: string): Buffer | undefined {
  return readKey(home) ?? makeKey(home);
}

/** Of several that make one at the same moment, the first counts. */
function makeKey(home: string): Buffer | undefined {
  const file = fileOf(home);
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(fresh, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(fresh, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return readKey(home);
}

function readKey(home: string): Buffer | undefined {
  const text = readIfPlain(fileOf(home)) ?? '';
  return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined;
}

const KEY_BYTES = 32;

function fileOf(home: string): string {
  return path.join(home, '.copse', 'session-key');
}
