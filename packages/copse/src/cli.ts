#!/usr/bin/env node
/** The entry of the command line: the engines guard, before anything imports `node:sqlite`. */

import packageJson from '../package.json' with { type: 'json' };
import { useCompileCache } from './kernel/system/compile-cache.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isSupported = (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26;
const argv = process.argv.slice(2);

/** The launcher builds then, and starts the command again. */
const STALE = 75;

/** Of `copse tend`, which Copse starts in the background. It holds for a process, so it is set where one begins. */
const LOW_PRIORITY = 10;

/**
 * Buffers above 16 KB go back to the system when they are freed, and all threads share one heap: with a heap for each thread, and
 * with trees that grow by a name at a time, freed memory stays in holes. Written so that a person's own values are told apart.
 */
const MEMORY_SETTINGS = { MALLOC_MMAP_THRESHOLD_: '16385', MALLOC_ARENA_MAX: '01' };
/** V8 collects when half as much as lives has been added; by default it lets a small heap grow further. */
const COLLECT_EARLY = '--heap-growing-percent=50';
/** Of young objects. A server at 100 events a second has 124 MB with it, and 152 without; a new process as below would start too late. */
const STAY_SMALL = '--semi-space-growth-factor=1';

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
  if (argv[0] === 'serve') process.getBuiltinModule('node:v8').setFlagsFromString(STAY_SMALL);
  if (argv[0] === 'tend') process.getBuiltinModule('node:os').setPriority(LOW_PRIORITY);
  useCompileCache();
  const [command = ''] = argv;
  const isWatched = argv.includes('--watch') || (command === 'queue' && argv.includes('-w'));
  if (command === 'watch' || (isWatched && /^(?:list|ls|queue)$/.test(command)))
    (await import('./cli/watch/guard.ts')).guardTerminal({ isOwnScreen: command !== 'queue' });
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
 * An orchestrator runs for days: its process is replaced by one that gives young objects 6 MB instead of 48, and that returns
 * freed memory to the system. Glibc reads the variables only at the start, and no child inherits them.
 */
function becomeSmall(): void {
  const { execArgv, execPath, env } = process;
  const flags = `${execArgv.join(' ')} ${env['NODE_OPTIONS'] ?? ''}`;
  const isSmall = flags.includes('semi-space-size');
  if (!flags.includes('heap-growing')) process.getBuiltinModule('node:v8').setFlagsFromString(COLLECT_EARLY);
  if (isSmall)
    for (const [name, value] of Object.entries(MEMORY_SETTINGS)) if (env[name] === value) delete env[name];
  // Windows has no such call.
  if (isSmall || process.platform === 'win32' || process.execve === undefined) return;
  const argv = [execPath, ...execArgv, '--max-semi-space-size=2', ...process.argv.slice(1)];
  try {
    process.execve(execPath, argv, { ...MEMORY_SETTINGS, ...env });
  } catch {
    // The arguments are too long for the system, for example. It runs with more memory.
  }
}
