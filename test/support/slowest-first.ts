/** Begins with the files that take longest, so that none of them is left to run alone at the end. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Longest first. A clone has no record of earlier runs, and the size of a file says little about it. */
const SLOWEST = [
  'faults/queues-random',
  'faults/runs-random',
  'faults/workspaces-random',
  'journeys/launcher',
  'journeys/cli-pull-requests',
  'faults/workspaces-kill-operations',
  'journeys/cli-undo-landing',
  'guards/check',
  'faults/git-vectors',
  'simulation/simulation',
  'simulation/simulation-rest',
  'faults/board-processes',
  'faults/workspaces-kill-steps',
  'journeys/cli-run-conflicts',
  'faults/pull-request-steps',
  'journeys/demo',
  'journeys/cli-queue',
];

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is not an array's.
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = SLOWEST.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));
  return place === -1 ? SLOWEST.length : place;
}
