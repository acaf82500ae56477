/**
 * Parses the output of git commands with `-z`. File names need not be UTF-8, so they are Latin-1 strings here: one
 * character per byte.
 */

import { readdirSync } from 'node:fs';

/** The parts of `-z` output. */
export function entries(output: Buffer): readonly string[] {
  return output
    .toString('latin1')
    .split('\0')
    .filter((part) => part !== '');
}

/**
 * Files and folders that git could not read, from its messages: it passes over them and succeeds. Git cuts long messages.
 */
export function unreadableIn(stderr: string): readonly string[] {
  const found = stderr.split('\n').flatMap((line) => {
    const [, folder] = /^warning: could not open directory '([^']*)/.exec(line) ?? [];
    const [, file] = UNREADABLE.exec(line) ?? [];
    const name = folder ?? file;
    return name === undefined ? [] : [name.length > NAMED ? `${name.slice(0, NAMED)}…` : name];
  });
  return [...new Set(found)];
}

const UNREADABLE =
  /^(?:(?:error|warning|fatal): )?(.+): (?:File name too long|Permission denied|Input\/output error|Too many levels of symbolic links)$/;
const NAMED = 200;

export interface RawChange {
  readonly oldMode: string;
  readonly oldId: string;
  readonly mode: string;
  readonly id: string;
  readonly status: string;
  /** One character per byte. */
  readonly file: string;
}

/** The output of `--raw -z --no-renames`. */
export function parseRaw(output: Buffer): readonly RawChange[] {
  const parts = entries(output);
  const changes: RawChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [oldMode = '', mode = '', oldId = '', id = '', status = ''] = parts[at]?.slice(1).split(' ') ?? [];
    changes.push({ oldMode, oldId, mode, id, status, file: parts[at + 1] ?? '' });
  }
  return changes;
}

export function nul(values: readonly string[]): Buffer {
  return Buffer.from(values.map((value) => `${value}\0`).join(''), 'latin1');
}

export function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

export function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The path of such a name below a folder whose own path is ordinary text. */
export function onDisk(folder: string, name: string): Buffer {
  const below = name === '.' ? '' : `/${name}`;
  return Buffer.concat([Buffer.from(folder), Buffer.from(below, 'latin1')]);
}

/** Every entry below a folder of a worktree that is not a folder. Follows no link. */
export function filesBelow(worktree: string, folder: string): readonly string[] {
  const names = readdirSync(onDisk(worktree, folder), { encoding: 'buffer', withFileTypes: true });
  return names.flatMap((entry) => {
    const name = `${folder}/${entry.name.toString('latin1')}`;
    return entry.isDirectory() ? filesBelow(worktree, name) : [name];
  });
}
