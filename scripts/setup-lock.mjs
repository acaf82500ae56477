// One set-up at a time per clone.
//
// The lock is a file that names the process holding it and the npm that process started. It is held while either
// lives: when the holder is killed, its npm goes on writing into node_modules, and a second npm must not join it.
// It is abandoned when both are gone, or when it is older than the machine's start (other processes have their
// numbers now). Removing an abandoned lock is itself guarded: of two that find it, the slower one would otherwise
// remove the lock the faster one has taken since.

import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;
const GUARD_ABANDONED_MS = 5_000;

export async function withSetupLock({ root, say, run }) {
  const dir = join(root, 'packages', 'copse', 'dist');
  const path = join(dir, '.setup-lock');
  mkdirSync(dir, { recursive: true });

  for (let waited = false; !tryTake(path); waited = true) {
    const holder = readHolders(path)[0];
    if (!waited && holder) say(`waiting for the set-up that process ${holder} is doing (lock: ${path}) …`);
    await sleep(POLL_MS);
  }
  try {
    return await run({ alsoHeldBy: (pid) => writeFileSync(path, `${process.pid} ${pid}`) });
  } finally {
    if (readHolders(path)[0] === process.pid) rmSync(path, { force: true });
  }
}

function tryTake(path) {
  try {
    writeFileSync(path, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (isAbandoned(path)) removeAbandoned(path);
  return false;
}

function removeAbandoned(path) {
  const guard = `${path}.removing`;
  try {
    mkdirSync(guard);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (Date.now() - modifiedMs(guard) > GUARD_ABANDONED_MS) rmSync(guard, { recursive: true, force: true });
    return;
  }
  try {
    if (isAbandoned(path)) rmSync(path, { force: true });
  } finally {
    rmdirSync(guard);
  }
}

function isAbandoned(path) {
  const startedMs = Date.now() - uptime() * 1000;
  if (modifiedMs(path) < startedMs) return true;
  const holders = readHolders(path);
  // Empty for the instant between creating and writing it, or because its writer was killed right then.
  if (holders.length === 0) return Date.now() - modifiedMs(path) > GUARD_ABANDONED_MS;
  return !holders.some(isAlive);
}

function readHolders(path) {
  try {
    return readFileSync(path, 'utf8').split(' ').map(Number).filter(Boolean);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return [];
  }
}

function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  try {
    // A killed process that was not reaped yet still answers signals.
    return !/.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}
