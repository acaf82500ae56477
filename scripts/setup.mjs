// Makes a clone ready to run: installs what package-lock.json names, then builds.
// Plain JavaScript for Node 20, because the pinned runtime is one of the things it installs.
//
//   node scripts/setup.mjs [--no-build]
//
// Invariants
// - An install is good when npm has written node_modules/.package-lock.json, its last step, and that file agrees
//   with package-lock.json. It is removed before npm begins, so a killed install is never taken for a good one.
// - One set-up at a time per clone (scripts/setup-lock.mjs); a process that waited looks again before doing anything.
// - Everything said goes to stderr: stdout belongs to the command that follows.

import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { isBuilt } from './build.mjs';
import { withSetupLock } from './setup-lock.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const lockfile = join(root, 'package-lock.json');
const modules = join(root, 'node_modules');
const installedLockfile = join(modules, '.package-lock.json');
const runtime = join(modules, '.bin', 'node');

class SetupError extends Error {}

const wantsBuild = !process.argv.includes('--no-build');
const isReady = () => isInstalled() && (!wantsBuild || isBuilt());

try {
  if (!isReady()) await withSetupLock({ root, say, run: setUp });
} catch (error) {
  say(error instanceof SetupError ? error.message : `the set-up failed: ${error.message}`);
  process.exitCode = 1;
}

async function setUp(lock) {
  if (!isInstalled()) {
    const why = existsSync(runtime) ? 'dependencies have changed' : 'first use, needs the network';
    await step(`installing dependencies with npm (${why})`, 'installed', () => install(lock));
  }
  if (wantsBuild && !isBuilt()) await step('building', 'built', () => buildOrExplain(lock));
}

function isInstalled() {
  if (!existsSync(installedLockfile) || !existsSync(runtime)) return false;
  const wanted = readPackages(lockfile);
  const present = readPackages(installedLockfile);
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    // The root has no entry of its own, and optional packages are there for other platforms.
    if (!present[path]) return path === '' || optional === true;
    return present[path].version === version && present[path].integrity === integrity;
  });
}

/** Nothing for a file that is cut short or holds a merge conflict: npm writes the one and explains the other. */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function install(lock) {
  // npm ci would empty the folder behind the link, and with it the clone that folder belongs to.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new SetupError(
      'node_modules is a symbolic link to an install that differs from package-lock.json; remove the link and run ' +
        'the same command again.',
    );
  }
  rmSync(installedLockfile, { force: true });
  const npm = spawn(
    'npm',
    [
      'ci',
      '--include=dev',
      '--include=optional',
      // Nothing that is installed needs to run a script for it, so nothing may.
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-progress',
      '--loglevel=error',
    ],
    { cwd: root, stdio: ['ignore', 'ignore', 'pipe'], shell: process.platform === 'win32' },
  );
  if (npm.pid !== undefined) lock.alsoHeldBy(npm.pid);
  let complaints = '';
  npm.stderr.setEncoding('utf8').on('data', (text) => (complaints += text));
  const outcome = await new Promise((resolve, reject) => {
    npm.on('error', reject);
    npm.on('close', (code, signal) => resolve(signal ?? code));
  });
  process.stderr.write(complaints);
  if (outcome !== 0) {
    throw new SetupError(
      `npm ci failed (${outcome}); put right what npm says above, or check the network and the free disk space, ` +
        'and run the same command again.',
    );
  }
  if (!isInstalled()) {
    throw new SetupError(
      `npm ci has not installed all that package-lock.json names for ${process.platform}-${process.arch}, such as ` +
        'the pinned Node.js runtime; see what `npm ci` says in the clone, and run the same command again.',
    );
  }
}

/** On the pinned runtime: the bundler needs a newer Node.js than the set-up does. */
async function buildOrExplain(lock) {
  const build = spawn(runtime, [join(root, 'scripts', 'build.mjs'), '--no-types'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (build.pid !== undefined) lock.alsoHeldBy(build.pid);
  const code = await new Promise((resolve, reject) => {
    build.on('error', reject);
    build.on('close', resolve);
  });
  if (code !== 0)
    throw new SetupError('the build failed; correct the error above and run the same command again.');
}

// On a terminal one line counts the seconds; elsewhere a line at the start and one at the end.
async function step(doing, done, run) {
  const live = process.stderr.isTTY && process.env.TERM !== 'dumb';
  const began = Date.now();
  const seconds = () => (Date.now() - began) / 1000;
  const overwrite = (text) => process.stderr.write(`\r\u001B[K${text}`);

  if (!live) say(`${doing} …`);
  else overwrite(`copse: ${doing} …`);
  const ticking = live
    ? setInterval(() => overwrite(`copse: ${doing} … ${Math.round(seconds())} s`), 1000)
    : undefined;
  try {
    await run();
    if (live) overwrite('');
    say(`${done} in ${seconds().toFixed(1)} s`);
  } catch (error) {
    if (live) process.stderr.write('\n');
    throw error;
  } finally {
    clearInterval(ticking);
  }
}

function say(text) {
  process.stderr.write(`copse: ${text}\n`);
}
