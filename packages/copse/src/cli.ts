#!/usr/bin/env node
/** The entry of the command line: the engines guard, before anything imports `node:sqlite`. */

import packageJson from '../package.json' with { type: 'json' };
import { useCompileCache } from './kernel/system/compile-cache.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isSupported = (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26;
const argv = process.argv.slice(2);

/** The launcher builds then, and starts the command again. */
const STALE = 75;

const MMAP_THRESHOLD = 'MALLOC_MMAP_THRESHOLD_';
/** Not a round number, so that a value of the person's own is told apart. */
const OWN_BYTES = '65537';

if (isStale()) {
  process.exitCode = STALE;
} else if (!isSupported) {
  process.stderr.write(
    `copse needs Node ${packageJson.engines.node} and this is ${process.versions.node}: install a newer Node, or start it with ./copse from a clone, which brings its own.\n`,
  );
  process.exitCode = 1;
} else if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  // To make a stream of a pipe takes Node longer than all the rest of this.
  process.getBuiltinModule('node:fs').writeSync(1, `${packageJson.version}\n`);
} else {
  if (argv[0] === 'orchestrate' || argv[0] === 'up') becomeSmall();
  useCompileCache();
  if (argv[0] === 'watch') (await import('./cli/watch/guard.ts')).guardTerminal();
  const { main } = await import('./cli/main.ts');
  process.exitCode = await main(argv, packageJson.version);
}

/** The launcher of a clone says on standard input what changed since the build. */
function isStale(): boolean {
  const { env } = process;
  if (env['COPSE_CHANGED'] !== 'stdin') return false;
  delete env['COPSE_CHANGED'];
  return process.getBuiltinModule('node:fs').readFileSync(0).length > 0;
}

/**
 * An orchestrator runs for days: its process is replaced by one that gives young objects 12 MB instead of 48, and whose large
 * buffers go back to the system when they are freed. Glibc reads the variable only at the start, and no child inherits it.
 */
function becomeSmall(): void {
  const { execArgv, execPath, env } = process;
  const flags = `${execArgv.join(' ')} ${env['NODE_OPTIONS'] ?? ''}`;
  const isSmall = flags.includes('semi-space-size');
  if (isSmall && env[MMAP_THRESHOLD] === OWN_BYTES) delete env[MMAP_THRESHOLD];
  // Windows has no such call.
  if (isSmall || process.platform === 'win32' || process.execve === undefined) return;
  const argv = [execPath, ...execArgv, '--max-semi-space-size=4', ...process.argv.slice(1)];
  try {
    process.execve(execPath, argv, { [MMAP_THRESHOLD]: OWN_BYTES, ...env });
  } catch {
    // The arguments are too long for the system, for example. It runs with more memory.
  }
}
