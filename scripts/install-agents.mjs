// Installs the real agent programs that `npm run test:agents` runs, where they are not there already: some 900 MB that
// no user of Copse needs. With COPSE_MORE_AGENTS=1 also those that are slower and tested less often.
//
//   node scripts/install-agents.mjs

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const agents = fileURLToPath(new URL('../test/agents/real', import.meta.url));

for (const folder of [agents, ...(process.env.COPSE_MORE_AGENTS === '1' ? [join(agents, 'more')] : [])]) {
  const installed = join(folder, 'node_modules', '.package-lock.json');
  if (isSame(readVersions(join(folder, 'package-lock.json')), readVersions(installed))) continue;
  process.stderr.write(`copse: installing the agent programs of ${folder} …\n`);
  // npm writes it last, so a killed install is never taken for a good one.
  rmSync(installed, { force: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  execFileSync('npm', ['ci', ...options], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
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
