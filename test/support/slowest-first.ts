/** Begins with the files that take longest, so that none of them is left to run alone at the end. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Longest first. A clone has no record of earlier runs, and the size of a file says little about it. */
const SLOWEST = [
  'queue/faults/random',
  'orchestrator/faults/random',
  'workspaces/faults/random',
  'cli/journeys/launcher',
  'review/journeys/pull-requests',
  'workspaces/faults/kill-operations',
  'queue/journeys/undo-landing',
  'guards/check',
  'git/faults/vectors',
  'simulation/simulation',
  'simulation/simulation-rest',
  'board/faults/processes',
  'workspaces/faults/kill-steps',
  'queue/journeys/conflicts',
  'review/faults/pull-request-steps',
  'cli/journeys/demo',
  'queue/journeys/queue',
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
