/** File names need not be UTF-8, so they are kept as Latin-1 strings: one character per byte. */

import { readdirSync } from 'node:fs';

/** The paths in what git lists with `-z`. */
export function pathsIn(output: Buffer): readonly string[] {
  return output.toString('latin1').split('\0').slice(0, -1);
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

/** Where such a name is, below a folder that has a name as any other text. */
export function onDisk(folder: string, name: string): Buffer {
  const below = name === '.' ? '' : `/${name}`;
  return Buffer.concat([Buffer.from(folder), Buffer.from(below, 'latin1')]);
}

/** All that is there below a folder of a worktree, but for folders. Follows no link. */
export function filesBelow(worktree: string, folder: string): readonly string[] {
  const names = readdirSync(onDisk(worktree, folder), { encoding: 'buffer', withFileTypes: true });
  return names.flatMap((entry) => {
    const name = `${folder}/${entry.name.toString('latin1')}`;
    return entry.isDirectory() ? filesBelow(worktree, name) : [name];
  });
}
