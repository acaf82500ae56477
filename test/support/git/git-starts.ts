/** Counts the gits that this process starts: by a program of that name which comes first on the search path. */

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

interface CountOptions {
  /** Nothing but git is found, so that its output cannot be made to come at once. */
  readonly isAlone?: boolean;
}

/** What was started while it ran, by its arguments. */
export async function gitsStartedBy(
  area: string,
  work: () => Promise<unknown>,
  { isAlone = false }: CountOptions = {},
): Promise<readonly string[]> {
  const folder = path.join(area, `gits ${++count}`);
  mkdirSync(folder);
  const [log, program] = [path.join(folder, 'log'), path.join(folder, 'git')];
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeFileSync(log, '');
  writeFileSync(program, `#!/bin/sh\necho "$*" >> '${log}'\nexec '${real}' "$@"\n`);
  chmodSync(program, 0o755);
  const before = process.env['PATH'];
  process.env['PATH'] = isAlone ? folder : `${folder}:${before}`;
  try {
    await work();
  } finally {
    process.env['PATH'] = before;
  }
  return readFileSync(log, 'utf8').split('\n').slice(0, -1);
}

let count = 0;
