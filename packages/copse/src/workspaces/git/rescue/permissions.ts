/**
 * The permissions of files that a rescue saves. A tree only has the executable bit; a private key must
 * come back unreadable for other users.
 *
 * One line for each file whose permissions differ from those of a new file: the permissions in octal, a space, and the path,
 * one character per byte. Set-user-id, set-group-id and sticky bits are neither saved nor restored.
 */

import { type Stats, closeSync, fchmodSync, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { hasCode } from '../../../kernel/system/error-code.ts';
import { withPlainFile } from '../../../kernel/system/plain-file.ts';
import { onDisk } from '../../../git/output.ts';

const ALL = 0o777;
/** Bits of group and others whose loss is harmless: the file comes back with the mode of a new one. */
const COMMON_MASK = 0o022;

/** The lines for these files. `scratch` is a folder in which a new file may be made to see its permissions. */
export function unusualPermissions(
  worktree: string,
  files: readonly string[],
  scratch: string,
): readonly string[] {
  const mask = ALL & ~permissionsOfNew(path.join(scratch, 'new'));
  const isCommon = (mask & ~COMMON_MASK) === 0;
  return files.flatMap((file) => {
    const found = fileAt(onDisk(worktree, file));
    if (found === undefined) return [];
    const mode = found.mode & ALL;
    const usual = ((mode & 0o100) === 0 ? 0o666 : ALL) & ~mask;
    return isCommon && mode === usual ? [] : [`${mode.toString(8)} ${file}`];
  });
}

/** The umask cannot be read without setting it. */
function permissionsOfNew(file: string): number {
  const descriptor = openSync(file, 'wx', ALL);
  try {
    return fstatSync(descriptor).mode & ALL;
  } finally {
    closeSync(descriptor);
  }
}

/** Only files that `isWanted`. An agent can write a rescue: links are not followed, and only regular files change. */
export function givePermissions(
  worktree: string,
  lines: readonly string[],
  isWanted: (file: string) => boolean,
): void {
  for (const line of lines) {
    const [, mode = '', file = ''] = /^([0-7]{1,3}) (.+)$/s.exec(line) ?? [];
    if (file === '' || !isWanted(file)) continue;
    const place = onDisk(worktree, file);
    if (fileAt(place) === undefined || isBehindLink(worktree, file)) continue;
    withPlainFile(place, (opened) => fchmodSync(opened, Number.parseInt(mode, 8)));
  }
}

function isBehindLink(worktree: string, file: string): boolean {
  const folder = onDisk(worktree, path.posix.dirname(file));
  const real = realpathSync(folder, { encoding: 'buffer' });
  return !real.equals(onDisk(realpathSync(worktree), path.posix.dirname(file)));
}

/** Undefined if it is missing or not a regular file. */
function fileAt(place: Buffer): Stats | undefined {
  try {
    const found = lstatSync(place);
    return found.isFile() ? found : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
