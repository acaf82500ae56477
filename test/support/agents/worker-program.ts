/** Programs of tests that are started many times: one file each, compiled once, start in a fraction of the time. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { inject } from 'vitest';

export interface WorkerProgram {
  readonly file: string;
  /** To be added to its environment. What is killed should call `flushCompileCache` before. */
  readonly env: Readonly<Record<string, string>>;
}

/** They start many gits, and each start copies what there is in memory. */
const SMALL = '--max-semi-space-size=1';

const esbuild = fileURLToPath(new URL('../../../node_modules/.bin/esbuild', import.meta.url));

/** Once for all tests of a run. */
export function bundleWorker(source: URL): WorkerProgram {
  const shared = inject('sharedFolder');
  const folder = path.join(shared, path.basename(source.pathname, '.ts'));
  if (!existsSync(folder)) publish(bundle(source, shared), folder);
  const file = path.join(folder, 'worker.mjs');
  return { file, env: { NODE_COMPILE_CACHE: path.join(folder, 'compiled'), NODE_OPTIONS: SMALL } };
}

/** Two files may need it at once: the one that is later keeps the other's. */
function publish(fresh: string, folder: string): void {
  try {
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

function bundle(source: URL, shared: string): string {
  const folder = mkdtempSync(path.join(shared, 'new-'));
  // As a program: the service behind esbuild's functions is a child of this process, which tests may end.
  execFileSync(esbuild, [
    fileURLToPath(source),
    `--outfile=${path.join(folder, 'worker.mjs')}`,
    '--bundle',
    '--platform=node',
    '--format=esm',
    '--target=node24',
    "--banner:js=import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    '--external:pg-native',
    '--log-level=error',
  ]);
  return folder;
}
