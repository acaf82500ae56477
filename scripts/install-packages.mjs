// Installs the packages of a test folder that has its own package-lock.json, where they are not there already:
//
//   node scripts/install-packages.mjs [--ahead] [folder …]
//
// Without a folder these are the real agent programs that `npm run test:agents` runs: some 900 MB that no user of Copse
// needs. With COPSE_MORE_AGENTS=1 also those that are slower and tested less often.
//
// With --ahead they are installed into a folder beside, where no test finds them. The next run without it moves them to
// their place, if they are whole and as package-lock.json wants them.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const isAhead = process.argv.includes('--ahead');
const named = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const agents = [
  'test/agents/real',
  ...(process.env.COPSE_MORE_AGENTS === '1' ? ['test/agents/real/more'] : []),
];

for (const folder of (named.length > 0 ? named : agents).map((name) => join(root, name))) {
  if (isInstalled(folder, folder)) continue;
  const ahead = join(folder, 'ahead');
  if (isInstalled(ahead, folder)) {
    if (!isAhead) moveFrom(ahead, folder);
    continue;
  }
  process.stderr.write(`copse: installing the packages of ${folder} …\n`);
  if (isAhead) layFiles(ahead, folder);
  install(isAhead ? ahead : folder);
}

function isInstalled(place, folder) {
  const wanted = readVersions(join(folder, 'package-lock.json'));
  return isSame(wanted, readVersions(join(place, 'node_modules', '.package-lock.json')));
}

function moveFrom(ahead, folder) {
  const modules = join(folder, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
  renameSync(join(ahead, 'node_modules'), modules);
  rmSync(ahead, { recursive: true, force: true });
}

function layFiles(ahead, folder) {
  mkdirSync(ahead, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(folder, name), join(ahead, name));
}

function install(place) {
  // npm writes it last, so a killed install is never taken for a good one.
  rmSync(join(place, 'node_modules', '.package-lock.json'), { force: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  execFileSync('npm', ['ci', ...options], { cwd: place, stdio: ['ignore', 'ignore', 'inherit'] });
}

function readVersions(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Optional packages are there for other platforms, and need not be here. */
function isSame(wanted, present) {
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(
    ([name, { version, optional }]) =>
      name === '' || (present[name] ? present[name].version === version : optional === true),
  );
}
