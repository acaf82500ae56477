/**
 * Begins with the files that take longest, so that none of them is left to run alone at the end. The files of a project stand
 * together: a process that loaded the sources runs another file only if that one is of the same project.
 */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files of the last one are small, and fill what is left at the end. */
const PROJECTS = ['clones', 'simulation', 'processes', 'rules'];

/** Longest first. A clone has no record of earlier runs, and the size of a file says little about it. */
const SLOWEST = [
  'agents/real/claude',
  'agents/real/acp',
  'agents/real/journeys',
  'agents/real/claude-sdk',
  'agents/faults/sandbox',
  'agents/faults/sandbox-commands',
  'agents/real/codex',
  'agents/real/sandbox',
  'agents/faults/sandbox-objects',
  'agents/real/sandbox-commands',
  'cli/journeys/launcher',
  'guards/check',
  'simulation/simulation',
  'simulation/simulation-rest',
  'orchestrator/faults/hostile',
  'machines/faults/outage',
  'machines/faults/random',
  'cli/contract/examples',
  'queue/faults/random',
  'orchestrator/faults/random',
  'workspaces/faults/random',
  'machines/faults/lost-leader',
  'machines/faults/commands',
  'workspaces/faults/kill-operations',
  'workspaces/faults/kill-steps',
  'queue/faults/promises-foreign',
  'git/faults/pipes',
  'git/faults/vectors',
  'queue/contract/checks-processes',
  'review/contract/forges',
  'queue/journeys/conflicts',
  'queue/contract/resolve-drivers',
  'review/journeys/review',
  'workspaces/contract/pool/taking',
  'workspaces/contract/pool/recycling',
  'workspaces/contract/pool/kills',
  'queue/faults/promises-fair',
  'review/journeys/pull-requests',
  'workspaces/faults/repositories',
  'workspaces/faults/damage',
  'queue/journeys/undo-landing',
  'orchestrator/faults/orchestrators',
  'queue/faults/landing-steps',
  'explain/journeys/next-steps',
  'queue/journeys/queue',
  'orchestrator/journeys/orchestrate',
  'review/faults/pull-request-steps',
  'queue/contract/checks-place',
  'cli/journeys/processes',
  'orchestrator/journeys/gate',
  'cli/journeys/demo',
  'queue/journeys/landing',
  'queue/faults/taken-back',
  'cli/journeys/demo-ends',
  'workspaces/contract/rescue-restore',
  'queue/faults/promises',
  'orchestrator/faults/stopped',
  'queue/journeys/merge',
  'queue/contract/revert',
  'queue/contract/merge/vectors',
  'queue/faults/promises-order',
  'workspaces/journeys/worktrees-undo',
  'queue/contract/merge/target',
  'orchestrator/faults/leftovers',
  'radar/contract/radar',
  'workspaces/faults/crowd',
  'workspaces/contract/sync',
  'agents/journeys/mcp',
  'orchestrator/faults/late',
  'agents/contract/asks',
  'orchestrator/faults/clock',
  'queue/faults/promises-once',
  'explain/contract/announce',
  'orchestrator/journeys/control',
  'board/contract/history',
  'orchestrator/journeys/resume',
  'agents/journeys/through-runner',
  'cli/journeys/watch/watch',
  'agents/journeys/finished',
  'board/contract/export',
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
  const name = moduleId.replace(/^.*\/test\//, '').replace(/\.(?:test|agents)\.ts$/, '');
  const place = SLOWEST.indexOf(name);
  return place === -1 ? SLOWEST.length : place;
}
