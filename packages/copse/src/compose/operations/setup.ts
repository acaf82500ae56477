/** The set-up of the clone that a caller is in: copse.yml, what a person accepted, notices, health. */

import type { CloneHere } from '../../operations/access.ts';
import { accept, loadPending, readPower } from '../accepted.ts';
import { filesIn } from '../../git/accepted/files.ts';
import { type Surroundings, requireRepository } from '../open.ts';

type SetupHere = Pick<
  CloneHere,
  'configFile' | 'intakeProblems' | 'pendingSettings' | 'acceptRemotes' | 'testNotices' | 'health'
>;

export function setupOf(surroundings: Surroundings, ring: (() => void) | undefined): SetupHere {
  const repository = () => requireRepository(surroundings);
  return {
    configFile: (which) =>
      which === 'around'
        ? filesIn(repository().top).read('copse.yml')
        : readPower(repository(), which).read('copse.yml'),
    intakeProblems: async ({ agents, sources }) => {
      const { scheduleProblems, sourceProblems } = await import('../run/schedule-problems.ts');
      return [...(await scheduleProblems({ agents })), ...sourceProblems({ agents, sources })];
    },
    pendingSettings: async () => {
      const { createHash } = await import('node:crypto');
      const pending = await loadPending(repository());
      const { changes, isFirst, present } = pending;
      const version = createHash('sha256').update(JSON.stringify(present)).digest('hex');
      const hasFiles = Object.values(present.files).some((text) => text !== null);
      return { changes, isFirst, hasFiles, version, accept: () => accept(repository(), pending) };
    },
    acceptRemotes: async () => {
      const { acceptRemotes } = await import('../on-demand.ts');
      return [...(await acceptRemotes(surroundings))].map(([name, url]) => ({ name, url }));
    },
    testNotices: async () => {
      const { testChannels } = await import('../notices.ts');
      return testChannels(surroundings, ring);
    },
    health: async () => {
      const { checkHealth } = await import('./health.ts');
      return checkHealth(surroundings);
    },
  };
}
