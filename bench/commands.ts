/** Copse and its peers as commands, run in a repository of their own. */

import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { fill } from './boards.ts';
import type { Bench } from './row.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The pinned runtime runs the benchmarks, so it is the one that is compared with. */
const NODE = process.execPath;

export const bareNode = [NODE, '-e', '0'] as const;
export const launcher = path.join(root, 'copse');
export const bundle = [NODE, path.join(root, 'packages', 'copse', 'dist', 'cli.js')] as const;

type Command = readonly [string, ...string[]];

/** Runs to the end and returns what was printed; anything but success is an error. */
export function run([program, ...args]: Command, cwd: string): string {
  const { COPSE_BOARD: _, ...env } = process.env;
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(`${[program, ...args].join(' ')} ended with ${signal ?? status}: ${stderr}`);
  return stdout;
}

export async function newRepository(bench: Bench): Promise<string> {
  const folder = await bench.newFolder();
  run(['git', 'init', '--quiet'], folder);
  return folder;
}

export async function filledRepository(
  bench: Bench,
  tasks: { readonly ready: number; readonly done: number },
): Promise<string> {
  const repository = await newRepository(bench);
  await fill({ engine: 'sqlite', file: await boardFileOf(repository) }, tasks);
  return repository;
}

/** Lets Copse make its board in the repository and finds the file. */
async function boardFileOf(repository: string): Promise<string> {
  run([launcher, 'list'], repository);
  const folder = path.join(repository, '.copse');
  const file = (await readdir(folder)).find((name) => name.endsWith('.db'));
  if (file === undefined) throw new Error(`copse list made no board in ${folder}`);
  return path.join(folder, file);
}
