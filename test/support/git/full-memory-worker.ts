/**
 * A process that merges, fills the place in memory for throwaway objects, and merges on: `<repository> <onto> <head>…`. It tells
 * the commits that it built, which are in the repository then, and for each whether throwaway objects were in memory.
 */

import { readdirSync, writeFileSync } from 'node:fs';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openMerging } from '../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type CommitId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';

const [cwd = '', first = '', ...heads] = process.argv.slice(2);
const merging = openMerging(openTrustedDir(findRepository(cwd)!));
const built: string[] = [];
const places: boolean[] = [];
let onto = brand<CommitId>(first);
for (const head of heads) {
  const candidate = await merging.build({
    task: brand('cp-0001'),
    title: 'Work',
    plan: null,
    branch: brand('task'),
    target: brand('main'),
    onto,
    head: brand(head),
    method: 'rebase',
    at: timestamp(1_700_000_000_000),
  });
  if (candidate.kind !== 'built') throw new Error(JSON.stringify(candidate));
  onto = candidate.commit;
  built.push(onto);
  places.push(readdirSync('/dev/shm').some((name) => name.startsWith('copse-merging-')));
  // Not before gits found in memory what was built first.
  if (built.length > 1) fill();
}
await merging.bring(onto);
await merging.close();
process.stdout.write(JSON.stringify({ built, places }));

function fill(): void {
  try {
    for (let at = 0; ; at += 1) writeFileSync(`/dev/shm/fill ${performance.now()} ${at}`, '');
  } catch {
    // Nothing more can be created there.
  }
}
