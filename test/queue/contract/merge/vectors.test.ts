/** INVARIANT 26 for landing: what an agent planted takes no part in building, moving the target, pushing and committing. */

import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { openMerging } from '../../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../../packages/copse/src/git/directory/trusted-dir.ts';
import {
  type BranchName,
  type CommitId,
  type TaskId,
  brand,
  timestamp,
} from '../../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../../support/cli.ts';
import { type Scene, newScenes } from '../../../support/git/git-scene.ts';
import { vectors } from '../../../support/git/git-vectors.ts';

const newScene = newScenes(newArea());
const place = ({ gitDir, top }: Scene) => ({ commonDir: gitDir, home: top });

/** Each acts on something that is done here; that each works in plain git is shown where all of them are tried. */
const chosen = [
  'every hook',
  'core.fsmonitor',
  'a clean filter',
  'a smudge filter',
  'a filter by info/attributes',
  'a merge driver',
  'merge.default',
  'remote.receivepack',
  'a replaced commit',
  'a graft',
];

// promise: planted-config-inert
it.each(chosen)('%s has no effect', async (name) => {
  const vector = vectors.find((one) => one.name === name);
  const expected = await answers(newScene());
  const scene = newScene();
  if (vector?.plant === undefined) throw new Error(`There is no vector ${name}`);
  vector.plant(scene);
  rmSync(scene.marker, { force: true });
  expect(await answers(scene)).toEqual(expected);
});

// promise: planted-config-inert
it('all that do not change the remote’s address have no effect, planted after Copse opened the repository', async () => {
  const expected = await answers(newScene());
  const scene = newScene();
  openTrustedDir(place(scene));
  for (const vector of vectors.toReversed()) if (!vector.isElsewhere) vector.plant?.(scene);
  rmSync(scene.marker, { force: true });
  expect(await answers(scene)).toEqual(expected);
});

async function answers(scene: Scene): Promise<unknown> {
  const { top, worktree, marker, origin, elsewhere } = scene;
  const merging = openMerging(openTrustedDir(place(scene)));
  const tip = (branch: string) => readTip(scene, branch);
  const request = {
    task: brand<TaskId>('cp-0001'),
    title: 'Title',
    plan: null,
    target: brand<BranchName>('main'),
    onto: tip('main'),
    at: timestamp(1_700_000_000_000),
  };
  const said: unknown[] = [];
  const say = (what: string, answer: unknown) => {
    expect(existsSync(marker), `${what} ran the program`).toBe(false);
    said.push([what, answer]);
  };
  try {
    for (const branch of ['ahead', 'other'])
      for (const method of ['rebase', 'merge', 'squash'] as const) {
        const built = await merging.build({ ...request, branch: brand(branch), head: tip(branch), method });
        say(`build ${branch} ${method}`, built);
      }
    say('trial', await merging.trial(tip('main'), tip('other')));
    say('commits', await merging.commits(tip('ahead'), tip('main'), 9));
    const built = await merging.build({
      ...request,
      branch: brand('ahead'),
      head: tip('ahead'),
      method: 'rebase',
    });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const move = { target: brand<BranchName>('main'), from: tip('main'), to: built.commit };
    say('move', await merging.moveTarget(move));
    say('file', readFileSync(path.join(top, 'code.txt'), 'utf8'));
    say('push', await merging.push(brand('main'), built.commit));
    for (const remote of [origin, elsewhere]) say('remote', git(remote, 'rev-parse', 'main'));
    await merging.commitAll(worktree, brand<BranchName>('task'), 'agent: all of it');
    // Not by its id, which has the time in it; and not by plain git, in which the vectors are in force.
    say('committed', await merging.commits(tip('main'), tip('task'), 1).then(([one]) => one?.subject));
    say('diff', await merging.trial(tip('main'), tip('task')));
    return said;
  } finally {
    await merging.close();
  }
}

function readTip({ gitDir }: Scene, branch: string): CommitId {
  return brand<CommitId>(readFileSync(path.join(gitDir, 'refs', 'heads', branch), 'utf8').trim());
}
