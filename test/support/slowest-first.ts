/**
 * Begins with the files that take longest, so that none of them is left to run alone at the end. The files of a project stand
 * together: a process that loaded the sources runs another file only if that one is of the same project.
 */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files of the last one are small, and fill what is left at the end. */
const PROJECTS = ['clones', 'simulation', 'processes', 'rules'];

/** Longest first. A clone has no record of earlier runs, and the size of a file says little about it. */
const SLOWEST = [
  'cli/journeys/launcher',
  'guards/check',
  'simulation/simulation',
  'simulation/simulation-rest',
  'queue/faults/random',
  'orchestrator/faults/random',
  'workspaces/faults/random',
  'workspaces/faults/kill-operations',
  'workspaces/faults/kill-steps',
  'git/faults/vectors',
  'review/contract/forges',
  'review/journeys/pull-requests',
  'queue/faults/promises-fair',
  'queue/faults/promises-foreign',
  'queue/faults/promises-order',
  'queue/contract/checks-place',
  'queue/journeys/conflicts',
  'queue/journeys/queue',
  'queue/journeys/merge',
  'queue/journeys/undo-landing',
  'review/journeys/review',
  'cli/journeys/demo',
  'workspaces/faults/damage',
  'workspaces/contract/pool',
  'orchestrator/faults/orchestrators',
  'orchestrator/faults/clock',
  'board/faults/processes',
  'review/faults/pull-request-steps',
  'explain/journeys/notify',
];

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is not an array's.
    const sorted = await super.sort(files);
    return sorted.toSorted(
      (one, other) => projectOf(one) - projectOf(other) || placeOf(one) - placeOf(other),
    );
  }
}

function projectOf({ project }: TestSpecification): number {
  return PROJECTS.indexOf(project.name);
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = SLOWEST.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));
  return place === -1 ? SLOWEST.length : place;
}
