/** What an orchestrator does for schedules in each pass. */

import type { ScheduleId } from '../../kernel/ids.ts';
import type { Intake } from '../ports/intake.ts';
import type { Schedule } from '../rules/schedule.ts';
import { type IntakeContext, fireDue, setSchedules } from './schedules.ts';

export interface IntakeRun extends IntakeContext {
  readonly intake?: Intake;
}

/** It keeps only whether it has set the schedules of its copse.yml: losing that costs one look at the board. */
export class ScheduleDuty {
  readonly #context: IntakeRun;
  readonly #onProblem: (reason: string) => void;
  #isSet = false;
  /** Told that another copse.yml has their times. */
  readonly #elsewhere = new Set<ScheduleId>();

  constructor(context: IntakeRun, onProblem: (reason: string) => void) {
    this.#context = context;
    this.#onProblem = onProblem;
  }

  /** A failure is told, and stops nothing else. */
  async pass(): Promise<void> {
    const { intake } = this.#context;
    if (intake === undefined) return;
    const onProblem = (reason: string) => this.#onProblem(`Schedule ${reason}`);
    try {
      if (!this.#isSet) await setSchedules(this.#context, intake, { onProblem });
      this.#isSet = true;
      if (intake.schedules.length === 0) return;
      const elsewhere = new Set<ScheduleId>();
      const onElsewhere = ({ id, definedBy }: Schedule) => {
        elsewhere.add(id);
        if (this.#elsewhere.has(id)) return;
        const who = definedBy === null ? 'another machine' : `the machine ${definedBy}`;
        onProblem(
          `${id} starts nothing here: ${who} set other times for it. To see them: copse schedule show ${id}`,
        );
      };
      await fireDue(this.#context, intake, { onProblem, onElsewhere });
      this.#elsewhere.clear();
      for (const id of elsewhere) this.#elsewhere.add(id);
    } catch (error) {
      this.#onProblem(`Schedules: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
