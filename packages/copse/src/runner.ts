/** The entry of a runner: `runner.js <file with its orders>`. */

import { useCompileCache } from './kernel/system/compile-cache.ts';

// Before anything large is loaded: runners start by the dozen.
useCompileCache();
const { main } = await import('./compose/runner.ts');
process.exitCode = await main(process.argv[2] ?? '');
