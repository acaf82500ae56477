/** What a command says about a task that it changed, in a clone where no orchestrator runs. */

import { expect, it } from 'vitest';

import { type AheadFacts, aheadOf } from '../../../packages/copse/src/explain/rules/ahead.ts';
import type { TaskSummary } from '../../../packages/copse/src/tasks/rules/task.ts';

const facts: AheadFacts = { isOrchestrated: false, pollIntervalMs: 5_000, noAgents: null, untaken: null };
const lack = { text: 'No agent is installed.', command: 'copse agents detect' };

const about = (status: string, more: Partial<AheadFacts>) =>
  aheadOf({ id: 'cp-1', state: { status } } as unknown as TaskSummary, { ...facts, ...more });

it.each([
  ['ready', { elsewhere: ['a'] }, 'An orchestrator on a starts it within 5 s, if an agent is free.'],
  ['ready', { elsewhere: ['a', 'b'], noAgents: lack }, 'An orchestrator on a or b starts it within 5 s'],
  ['ready', { elsewhere: [], noAgents: lack }, 'No agent is installed.'],
  ['ready', { elsewhere: [] }, 'No orchestrator is running here: start one'],
  ['ready', { elsewhere: ['a'], isOrchestrated: true }, 'A running orchestrator starts it within 5 s'],
  ['landing', { elsewhere: ['a', 'b', 'c', 'd'] }, 'An orchestrator on a, b or 2 more lands it.'],
  ['landing', { elsewhere: [] }, 'No orchestrator is running here, so it waits in the queue'],
  [
    'landing',
    { elsewhere: ['a'], waits: { text: 'it is paused', commands: ['x'] } },
    'It waits: it is paused.',
  ],
] as const)('a %s task with %o: %s', (status, more, text) => {
  const { text: said, commands } = about(status, more);
  expect(said).toContain(text);
  expect(commands.includes('copse orchestrate')).toBe(text.includes('start one'));
});
