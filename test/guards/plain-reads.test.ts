/**
 * Files that agents can write are read through kernel/system/plain-file.ts, which follows no link, waits for no pipe and reads
 * a bounded number of bytes. Other reads need a reason.
 */

import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { projectRoot } from './working-copy.ts';

/** Whoever reads the whole of a file by its name. */
const READS =
  /\b(?:readFileSync|readFile|createReadStream|copyFileSync|copyFile)\(\s*(?!`?'?"?\/proc\/|`\/proc)/g;

/** How many reads a file has, and why an agent cannot make them wait. */
const ALLOWED: Readonly<Record<string, { readonly reads: number; readonly because: string }>> = {
  'git/file-version.ts': { reads: 2, because: 'it has looked at the file, and opens it without waiting' },
  'workspaces/files/bring-files.ts': {
    reads: 1,
    because: 'it has looked at the file; the copy blocks no thread but its own',
  },
  'workspaces/files/submodules.ts': {
    reads: 1,
    because: 'it has looked at the file; the copy blocks no thread but its own',
  },
  'workspaces/git/rescue/restore-state.ts': { reads: 1, because: 'an index of its own in a scratch folder' },
  'workspaces/git/rescue/snapshot-files.ts': { reads: 1, because: "HEAD of Copse's own git directory" },
  'processes/launcher.ts': {
    reads: 1,
    because: 'a program that Copse writes, about a file that Copse wrote',
  },
  'processes/cgroup.ts': { reads: 1, because: 'a file of the kernel' },
  'server/web-files.ts': { reads: 1, because: 'files of the product, in its own folder' },
  'cli.ts': { reads: 1, because: 'standard input, which the launcher writes' },
  'cli/through-runner.ts': { reads: 1, because: "a file that the agent names, in the agent's own process" },
  'cli/read-text.ts': { reads: 1, because: 'a file that the person names' },
  'cli/commands/setup/import.ts': { reads: 1, because: 'a file that the person names' },
};

const sources = path.join(projectRoot, 'packages', 'copse', 'src');

function readsIn(source: string): number {
  const code = source.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$|^import [^;]*;/gm, '');
  return [...code.matchAll(READS)].length;
}

it('files are read without waiting, following links or reading without end', () => {
  const found = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('demo/'))
    .map((name) => [name, readsIn(readFileSync(path.join(sources, name), 'utf8'))] as const)
    .filter(([name, reads]) => reads !== (ALLOWED[name]?.reads ?? 0));
  expect(Object.fromEntries(found)).toEqual({});
});

it('the guard sees a plain read', () => {
  expect(readsIn("const text = readFileSync(file, 'utf8');")).toBe(1);
  expect(readsIn("const text = readFileSync('/proc/meminfo', 'latin1');")).toBe(0);
});
