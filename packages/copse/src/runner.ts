/** The entry of a runner: `runner.js <file with its orders>`. */

import { enableCompileCache } from 'node:module';

// Before anything large is loaded: runners start by the dozen.
enableCompileCache();
const { main } = await import('./compose/runner.ts');
process.exitCode = await main(process.argv[2] ?? '');
