#!/usr/bin/env node
/** The entry of the command line: the engines guard, before anything imports `node:sqlite`. */

import packageJson from '../package.json' with { type: 'json' };
import { useCompileCache } from './kernel/system/compile-cache.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isSupported = (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26;
const argv = process.argv.slice(2);

if (!isSupported) {
  process.stderr.write(
    `copse needs Node ${packageJson.engines.node} and this is ${process.versions.node}: install a newer Node, or start it with ./copse from a clone, which brings its own.\n`,
  );
  process.exitCode = 1;
} else if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  // To make a stream of a pipe takes Node longer than all the rest of this.
  process.getBuiltinModule('node:fs').writeSync(1, `${packageJson.version}\n`);
} else {
  useCompileCache();
  const { main } = await import('./cli/main.ts');
  process.exitCode = await main(argv, packageJson.version);
}
