/**
 * The tokens that pages got for codes, kept so that an open page goes on after the server was started again. The file has digests
 * only: who reads it cannot enter. It belongs to one repository, host and port, and a token counts for 12 hours after it was given.
 * A server that starts deletes files without such a token: each free port that a server took has one.
 */

import { createHash } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import path from 'node:path';

import type { Policy } from '../kernel/policy.ts';
import { namesIn } from '../kernel/system/names-in.ts';
import { readIfPlain } from '../kernel/system/plain-file.ts';
import { writeAtomically } from '../kernel/system/write-atomically.ts';

export interface KeptToken {
  readonly digest: Buffer;
  /** By the clock of the system, which a restart does not set back. */
  readonly untilMs: number;
}

export interface KeptTokens {
  read(): readonly KeptToken[];
  write(tokens: readonly KeptToken[]): void;
}

export interface KeptFor {
  /** That only this user can read and write. */
  readonly folder: string;
  readonly repository: string;
  readonly host: string;
  readonly port: number;
  readonly limits: Pick<Policy['server'], 'pageTokenMs' | 'bodyBytes'>;
  readonly onProblem: (text: string) => void;
}

export function keptTokens({ folder, repository, host, port, limits, onProblem }: KeptFor): KeptTokens {
  const name = createHash('sha256')
    .update(JSON.stringify([repository, host, port]))
    .digest('hex')
    .slice(0, 32);
  const file = path.join(folder, `${name}.pages`);
  try {
    removeOld(folder, Date.now() - limits.pageTokenMs);
  } catch (error) {
    // A folder that cannot be written keeps no person out.
    onProblem(`Old files of tokens could not be deleted: ${String(error)}`);
  }
  return {
    read: () => (readIfPlain(file, { mostBytes: limits.bodyBytes }) ?? '').split('\n').flatMap(keptIn),
    write(tokens) {
      const lines = tokens.map(({ digest, untilMs }) => `${untilMs} ${digest.toString('hex')}\n`);
      try {
        writeAtomically(file, lines.join(''));
      } catch (error) {
        // A full disk keeps no person out.
        onProblem(`Open pages need a new code once this server was started again: ${String(error)}`);
      }
    },
  };
}

/** The last token was given when the file was written. */
function removeOld(folder: string, beforeMs: number): void {
  for (const name of namesIn(folder).filter((one) => /^[0-9a-f]{32}\.pages$/.test(one))) {
    const file = path.join(folder, name);
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found !== undefined && found.mtimeMs < beforeMs) rmSync(file, { force: true });
  }
}

function keptIn(line: string): readonly KeptToken[] {
  const [, untilMs, digest] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(line) ?? [];
  if (untilMs === undefined || digest === undefined) return [];
  return [{ untilMs: Number(untilMs), digest: Buffer.from(digest, 'hex') }];
}
