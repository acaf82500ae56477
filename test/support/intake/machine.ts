/** Machines with schedules and a clock of the test's own. */

import { cronTimes } from '../../../packages/copse/src/intake/cron/times.ts';
import type { IntakeContext } from '../../../packages/copse/src/intake/act/schedules.ts';
import type { Intake } from '../../../packages/copse/src/intake/ports/intake.ts';
import type { ScheduleDefinition } from '../../../packages/copse/src/intake/rules/schedule.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import {
  type AgentName,
  type NodeId,
  type ScheduleId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';

export class FakeClock {
  #now: number;

  constructor(start: string) {
    this.#now = Date.parse(start);
  }

  readonly now = () => timestamp(this.#now);

  set(text: string): void {
    this.#now = Date.parse(text);
  }
}

export function machine(board: Board, clock: FakeClock, name = 'n-1'): IntakeContext {
  const node = brand<NodeId>(name);
  return { board, clock, random: Math.random, policy: defaultPolicy, by: { kind: 'node', node }, node };
}

export const nightly: ScheduleDefinition = {
  id: brand<ScheduleId>('coder/nightly'),
  agent: brand<AgentName>('coder'),
  name: 'nightly',
  timing: { type: 'cron', expression: '0 6 * * *' },
  missed: 'skip',
  overlap: 'skip',
  prompt: 'Update the dependencies\nand run the tests.',
  workSource: null,
};

export function intakeWith(...schedules: readonly ScheduleDefinition[]): Intake {
  return { schedules, triggers: [], cron: cronTimes };
}
