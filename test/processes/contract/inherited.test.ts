/**
 * Closing what a runner inherited. Not every open file without close-on-exec was inherited: V8 writes its profile into one, a
 * preloaded library its log. A number that is closed under its writer goes to the next file that is opened, which was the
 * board: the writer's next line was in the middle of it.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { newArea } from '../../support/cli.ts';

const area = newArea();
const inherited = fileURLToPath(
  new URL('../../../packages/copse/src/processes/inherited.ts', import.meta.url),
);

/** Runs the lines in a process of its own, after it closed what it inherited. */
function afterClosing(lines: string, flags: readonly string[] = []): string {
  const program = path.join(area, 'program.mjs');
  writeFileSync(
    program,
    `import fs from 'node:fs';
     const { closeInherited } = await import(${JSON.stringify(inherited)});
     closeInherited();
     ${lines}`,
  );
  // Node itself marks the first numbers as close-on-exec, so these are higher.
  const argv = ['-c', 'exec 40>plain 41>&1; exec "$@"', 'bash', process.execPath, ...flags, program];
  const { stdout, stderr, status } = spawnSync('bash', argv, { cwd: area, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

// promise: writes-durable
test.runIf(process.platform === 'linux')(
  'no file that is opened later gets what another part of the process writes',
  () => {
    const folder = path.join(area, 'profile');
    mkdirSync(folder);
    // V8 opens it before any line of Copse runs, and writes to it whenever it compiles a function.
    const flags = ['--perf-basic-prof', `--perf-basic-prof-path=${folder}`];
    afterClosing(
      `const files = Array.from({ length: 40 }, (_, at) => fs.openSync(${JSON.stringify(area)} + '/later-' + at, 'w'));
     for (let at = 0; at < 500; at += 1) new Function('return ' + at)();
     for (const file of files) fs.closeSync(file);`,
      flags,
    );
    const later = readdirSync(area).filter((name) => name.startsWith('later-'));
    expect(later).toHaveLength(40);
    expect(later.filter((name) => readFileSync(path.join(area, name)).length > 0)).toEqual([]);
    expect(readdirSync(folder)).toHaveLength(1);
  },
);

test.runIf(process.platform === 'linux')(
  'a pipe is closed, its number goes to no other file, and a plain file stays open',
  () => {
    const said = afterClosing(
      `const now = (fd) => fs.readlinkSync('/proc/self/fd/' + fd);
     const later = Array.from({ length: 60 }, () => fs.openSync('after', 'w'));
     fs.writeSync(40, 'still mine');
     console.log(JSON.stringify({ pipe: now(41), plain: now(40), isTaken: later.includes(41) }));`,
    );
    const plain = path.join(area, 'plain');
    expect(JSON.parse(said)).toEqual({ pipe: '/dev/null', plain, isTaken: false });
    expect(readFileSync(plain, 'utf8')).toBe('still mine');
  },
);
