/** Programs of tests that are started many times: one file each, compiled once, start in a fraction of the time. */

import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildSync } from 'esbuild';
import { afterAll } from 'vitest';

import { scratchFolder } from '../scratch.ts';

export interface WorkerProgram {
  readonly file: string;
  /** To be added to its environment. What is killed should call `flushCompileCache` before. */
  readonly env: Readonly<Record<string, string>>;
}

/** They start many gits, and each start copies what there is in memory. */
const SMALL = '--max-semi-space-size=1';

const folders: string[] = [];

// Here and not below: what is registered while a test runs is not called.
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** For the tests of one file, gone when they are over. */
export function bundleWorker(source: URL): WorkerProgram {
  const folder = mkdtempSync(path.join(scratchFolder(), 'copse-worker-'));
  folders.push(folder);
  const file = path.join(folder, 'worker.mjs');
  buildSync({
    entryPoints: [fileURLToPath(source)],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
    external: ['pg-native'],
  });
  return { file, env: { NODE_COMPILE_CACHE: path.join(folder, 'compiled'), NODE_OPTIONS: SMALL } };
}
