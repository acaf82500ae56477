/** What an orchestrator does for schedules in each pass. */

import type { Intake } from '../ports/intake.ts';
import { type IntakeContext, fireDue, setSchedules } from './schedules.ts';

export interface IntakeRun extends IntakeContext {
  readonly intake?: Intake;
}

/** It keeps only whether it has set the schedules of its copse.yml: losing that costs one look at the board. */
export class ScheduleDuty {
  readonly #context: IntakeRun;
  readonly #onProblem: (reason: string) => void;
  #isSet = false;

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
      if (intake.schedules.length > 0) await fireDue(this.#context, intake, { onProblem });
    } catch (error) {
      this.#onProblem(`Schedules: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
