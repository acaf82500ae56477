/**
 * The token of a running server, for programs of the same person: a line that `curl -H @file` sends. The token then is in no
 * argument list, which other users of this machine can read.
 */

import { rmSync } from 'node:fs';
import path from 'node:path';

import { readIfPlain } from '../kernel/system/plain-file.ts';
import { writeAtomically } from '../kernel/system/write-atomically.ts';

export interface TokenFile {
  readonly file: string;
  remove(): void;
}

/** Named by host and port: 127.0.0.1 and ::1 can have servers on one port. */
export function writeTokenFile(
  folder: string,
  { host, port }: { readonly host: string; readonly port: number },
  token: string,
): TokenFile {
  const file = path.join(folder, `${nameOf(host)}-${port}.header`);
  const line = `Authorization: Bearer ${token}\n`;
  writeAtomically(file, line);
  return {
    file,
    remove() {
      // Another server may have the port by now.
      if (readIfPlain(file) === line) rmSync(file, { force: true });
    },
  };
}

function nameOf(host: string): string {
  return host.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '_');
}
