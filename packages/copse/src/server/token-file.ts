/**
 * The token of a running server, for programs of the same person: a line that `curl -H @file` sends. The token then is in no
 * argument list, which other users of this machine can read.
 */

import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { readIfPlain } from '../kernel/system/plain-file.ts';

export interface TokenFile {
  readonly file: string;
  remove(): void;
}

export function writeTokenFile(folder: string, port: number, token: string): TokenFile {
  const file = path.join(folder, `${port}.header`);
  const line = `Authorization: Bearer ${token}\n`;
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(fresh, line, { mode: 0o600, flag: 'wx' });
  renameSync(fresh, file);
  return {
    file,
    remove() {
      // Another server may have the port by now.
      if (readIfPlain(file) === line) rmSync(file, { force: true });
    },
  };
}
