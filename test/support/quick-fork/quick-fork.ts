/**
 * Lets the processes of tests start programs quickly. For each program Node.js copies the tables of its memory, 3 ms of
 * processor time for 100 MB, and then each page that it writes to; the tests start tens of thousands. With quick-fork.S nothing
 * is copied: 0.3 ms, however large the process is.
 *
 * Only where the machine has a C compiler, Linux and x64; elsewhere the tests take longer. What the tests start has the usual
 * fork() (at-start.ts): other programs go on in the child, as PostgreSQL does.
 */

import { spawnSync } from 'node:child_process';
import path from 'node:path';

const SOURCE = path.join(import.meta.dirname, 'quick-fork.S');

/** For the processes that this one starts from now on: call it when everything that is no process of tests has been started. */
export function quickFork(folder: string): void {
  if (process.platform !== 'linux' || process.arch !== 'x64') return;
  const file = path.join(folder, 'quick-fork.so');
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-o', file, SOURCE], { stdio: 'ignore' });
  if (status === 0 && works(file)) process.env['LD_PRELOAD'] = file;
}

/** Starts a program in a folder, with variables; then one that there is not; and has its own variables still. */
function works(file: string): boolean {
  const script = `
    const { spawnSync } = require('node:child_process');
    const { stdout } = spawnSync('/bin/sh', ['-c', 'echo $A; pwd'], { cwd: '/usr', env: { A: 'a' }, encoding: 'utf8' });
    const missing = spawnSync('/nowhere').error.code;
    console.log(JSON.stringify([stdout, missing, process.env.B]));`;
  const env = { PATH: process.env['PATH'] ?? '', LD_PRELOAD: file, B: 'b' };
  const { stdout } = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' });
  return stdout.trim() === JSON.stringify(['a\n/usr\n', 'ENOENT', 'b']);
}
