/** A process that closes the object store of an attempt and ends itself without warning at one step. */

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { openStores } from '../../../packages/copse/src/git/objects.ts';

const [repository = '', killAt = ''] = process.argv.slice(2);

const found = findRepository(repository);
if (!found) throw new Error(`${repository} is no repository`);
const stores = openStores(openTrustedDir(found), {
  onStep: (step) => {
    if (step === killAt) process.kill(process.pid, 'SIGKILL');
  },
});
for (const store of stores.list()) await stores.close(store);
