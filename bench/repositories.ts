/** Repositories of the sizes that the goals speak of: S 200 files, M 5,000 (25 MB), L 60,000 (300 MB). */

import { spawn } from 'node:child_process';
import path from 'node:path';

import { run } from './commands.ts';
import type { Bench } from './row.ts';

const sizes = { S: 200, M: 5_000, L: 60_000 } as const;
export type Size = keyof typeof sizes;

const FILE_BYTES = 5_000;
const FILES_PER_FOLDER = 50;
/** Commits on top of the first, each of which changes some files: what a pool lags behind by. */
const LATER_COMMITS = 10;
const FILES_PER_COMMIT = 20;

/** With `main` at the newest commit and `behind` at the first one; nothing is checked out. */
export async function newSizedRepository(bench: Bench, size: Size): Promise<string> {
  const folder = path.join(await bench.newFolder(), size);
  run(['git', 'init', '--quiet', '--initial-branch=main', folder], '.');
  for (const [name, value] of [
    ['user.name', 'Bench'],
    ['user.email', 'bench@example.invalid'],
    ['gc.auto', '0'],
  ] as const) {
    run(['git', 'config', name, value], folder);
  }
  const git = spawn('git', ['fast-import', '--quiet'], {
    cwd: folder,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => git.once('close', resolve));
  for (const part of history(sizes[size])) {
    if (!git.stdin.write(part)) await new Promise((resolve) => git.stdin.once('drain', resolve));
  }
  git.stdin.end();
  if ((await ended) !== 0) throw new Error('git fast-import failed');
  return folder;
}

function* history(files: number): Generator<string> {
  yield commitHead('refs/heads/main', 'first', 1);
  for (let file = 0; file < files; file += 1) yield change(file, 0);
  yield 'reset refs/heads/behind\nfrom refs/heads/main\n\n';
  for (let commit = 1; commit <= LATER_COMMITS; commit += 1) {
    yield commitHead('refs/heads/main', `change ${commit}`, commit + 1);
    for (let index = 0; index < FILES_PER_COMMIT; index += 1) {
      yield change((commit * 7_919 + index * 104_729) % files, commit);
    }
  }
}

function commitHead(ref: string, message: string, second: number): string {
  const who = `Bench <bench@example.invalid> ${1_700_000_000 + second} +0000`;
  return `commit ${ref}\ncommitter ${who}\ndata ${message.length}\n${message}\n`;
}

function change(file: number, version: number): string {
  const content = textOf(file * 31 + version);
  return `M 100644 inline ${nameOf(file)}\ndata ${content.length}\n${content}\n`;
}

export function nameOf(file: number): string {
  return `packages/part-${Math.floor(file / FILES_PER_FOLDER)}/module-${file}.ts`;
}

/** Different in every file, so that nothing is shared, and as compressible as source is. */
function textOf(seed: number): string {
  let state = seed + 1;
  let text = '';
  while (text.length < FILE_BYTES) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += `export const value${state.toString(36)} = ${state};\n`;
  }
  return text;
}
