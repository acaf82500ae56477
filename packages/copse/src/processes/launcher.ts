/** The program that runs an agent inside a pane of tmux, and how to know such a process again. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

import type { ProcessIdentity } from '../kernel/process.ts';
import { hasProc, identify, isGone } from './identity.ts';
import { hearReaper } from './start/reaper-told.ts';

/**
 * Runs in the pane. A signal from the keyboard is for the program, whose end is waited for; a closed terminal is its end
 * too. tmux closes the pane only when it has written down all that was printed.
 */
export const LAUNCHER = `
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const [, file] = process.argv;
const job = JSON.parse(fs.readFileSync(file, 'utf8'));
const end = (ending) => {
  fs.writeFileSync(job.exit + '.new', JSON.stringify(ending), { mode: 0o600 });
  fs.renameSync(job.exit + '.new', job.exit);
  process.exit();
};
const child = spawn(job.argv[0], job.argv.slice(1), {
  cwd: job.folder,
  env: { ...job.env, TERM: process.env.TERM },
  stdio: [job.input === null ? 'inherit' : fs.openSync(job.input), 'inherit', 'inherit', ...(job.hasReaper ? ['pipe'] : [])],
});
let program;
const tell = (signal) => {
  try { process.kill(program, signal) } catch {}
};
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM']) process.on(signal, () => {});
process.on('SIGHUP', () => {
  tell('SIGHUP');
  setTimeout(() => tell('SIGKILL'), 3000);
});
const hear = (${hearReaper.toString()})(require('node:os').constants, {
  started: (pid) => { program = pid; fs.rmSync(file) },
  failed: (error) => end({ error }),
  ended: (code, signal) => end({ code, signal }),
});
child.on('error', (error) => end({ error: error.code }));
if (job.hasReaper) {
  child.stdio[3].setEncoding('latin1').on('data', hear).on('close', () => end({}));
} else {
  child.on('spawn', () => { program = child.pid; fs.rmSync(file) });
  child.on('exit', (code, signal) => end({ code, signal }));
}
`;

/** Those of the processes that are launchers. They are children of tmux, so no runner leads to them. */
export async function launchersAmong(pids: readonly number[]): Promise<readonly ProcessIdentity[]> {
  const found: ProcessIdentity[] = [];
  for (const pid of pids) {
    const one = await identify(pid);
    if (one !== undefined && (await commandOf(pid)).includes(LAUNCHER)) found.push(one);
  }
  return found;
}

function commandOf(pid: number): Promise<string> {
  if (hasProc) return Promise.resolve(readCommand(pid));
  return new Promise((resolve) => {
    execFile('ps', ['-ww', '-o', 'args=', '-p', String(pid)], (error, stdout) =>
      resolve(error === null ? stdout : ''),
    );
  });
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (isGone(error)) return '';
    throw error;
  }
}
