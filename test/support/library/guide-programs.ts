/** The programs of docs/guides/library.md, in a project that is not part of this clone. */

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Finished, finished, plainEnv } from '../cli.ts';

const guide = fileURLToPath(new URL('../../../docs/guides/library.md', import.meta.url));

/** With the programs, and with a folder for the package. */
export function newForeignProject(area: string): { readonly folder: string; readonly modules: string } {
  const folder = mkdtempSync(path.join(area, 'foreign ü '));
  const modules = path.join(folder, 'node_modules');
  mkdirSync(modules);
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module", "private": true }\n');
  for (const [name, text] of guidePrograms()) writeFileSync(path.join(folder, name), text);
  return { folder, modules };
}

export function guidePrograms(): ReadonlyMap<string, string> {
  const blocks = readFileSync(guide, 'utf8').matchAll(/^```ts (\S+)\n(.*?)^```$/gms);
  return new Map(Array.from(blocks, ([, name = '', text = '']) => [name, text]));
}

/** It resolves when the process has ended by itself: nothing that the library left keeps it running. */
export function runProgram(folder: string, argv: readonly string[]): Promise<Finished> {
  const child = spawn(process.execPath, argv, { cwd: folder, env: plainEnv });
  return finished(child);
}
