// Builds the dashboard into packages/copse/dist/web, and does nothing when it is newer than all it is made of.
//
// Invariants
// - The new files are complete before the old folder is replaced, by two renames: a server reads one build or the other.
// - dist/web/.built-from is written last and carries the time at which the build began.
//
//   node scripts/web/build.mjs [--always]

import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { withSetupLock } from '../setup-lock.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const web = join(root, 'packages', 'web');
const folder = join(root, 'packages', 'copse', 'dist', 'web');
const builtFile = join(folder, '.built-from');

// A file's time may lag a few milliseconds behind the clock.
const FILE_TIME_LAG_MS = 10;

// The page uses rules and views of the product.
const INPUTS = [
  ...['index.html', 'package.json', 'public', 'src', 'vite.config.ts'].map((name) => join(web, name)),
  join(root, 'packages', 'copse', 'src'),
  join(root, 'package-lock.json'),
];

function isWebBuilt() {
  if (!existsSync(builtFile)) return false;
  const builtNs = statSync(builtFile, { bigint: true }).mtimeNs;
  return INPUTS.every((input) => !isNewer(input, builtNs));
}

export async function buildWeb() {
  const beganMs = Date.now() - FILE_TIME_LAG_MS;
  const fresh = `${folder}.${process.pid}.new`;
  const old = `${folder}.${process.pid}.old`;
  const { build } = await import('vite');
  try {
    await build({ configFile: join(web, 'vite.config.ts'), build: { outDir: fresh } });
    mkdirSync(join(folder, '..'), { recursive: true });
    writeFileSync(join(fresh, '.built-from'), '');
    utimesSync(join(fresh, '.built-from'), beganMs / 1000, beganMs / 1000);
    if (existsSync(folder)) renameSync(folder, old);
    renameSync(fresh, folder);
  } finally {
    for (const left of [fresh, old]) rmSync(left, { recursive: true, force: true });
  }
}

function isNewer(path, timeNs) {
  const stat = statSync(path, { bigint: true });
  if (stat.mtimeNs > timeNs) return true;
  return stat.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name), timeNs));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isWanted = () => process.argv.includes('--always') || !isWebBuilt();
  const say = (text) => process.stderr.write(`copse: ${text}\n`);
  if (isWanted()) {
    await withSetupLock({
      root,
      say,
      run: async () => {
        if (!isWanted()) return;
        say('building the dashboard …');
        await buildWeb();
      },
    });
  }
}
