/** The checks that this process runs for a queue, each in its own slot; verdicts are recorded when a check ends. */

import { createHash } from 'node:crypto';

import type { Verdict } from '../rules/check.ts';
import { type LoggedFault, faultText } from '../rules/check-fault.ts';
import { decided } from '../../kernel/decision.ts';
import type { BranchName, CheckId, CommitId } from '../../kernel/ids.ts';
import { brand, drawId } from '../../kernel/ids.ts';
import type { EndedRun } from '../rules/decide/decide.ts';
import type { CheckCommand, CheckResult, CheckRunEnd } from '../ports/checks.ts';
import { change } from '../../board/context.ts';
import { checkKey } from '../rules/check.ts';
import type { RunContext } from '../context.ts';

/** A check of copse.yml with the key of its verdicts. */
export interface RequiredCheck {
  readonly check: CheckCommand;
  readonly command: string;
  readonly environment: string;
  readonly key: string;
}

export function requiredChecks({ landing, checks }: RunContext): readonly RequiredCheck[] {
  return Object.entries(landing.checks).map(([name, configured]) => {
    const { command, timeout: timeoutMs, env } = configured;
    const workingDirectory =
      'working_directory' in configured ? (configured.working_directory ?? null) : null;
    const check: CheckCommand = { name, command, timeoutMs, env, workingDirectory };
    const text = checkText(name, command);
    const environment = checks.environmentOf(check);
    return { check, command: text, environment, key: checkKey({ command: text, environment }) };
  });
}

/** Of their commands and environments. */
export function digestOf(required: readonly RequiredCheck[]): string {
  const keys = required.map(({ key }) => key).toSorted();
  return createHash('sha256').update(JSON.stringify(keys)).digest('base64url').slice(0, DIGEST_LENGTH);
}

const DIGEST_LENGTH = 22;

/** The name of a check on the board. */
export function checkText(name: string, command: CheckCommand['command']): string {
  return JSON.stringify([name, command]);
}

/** Whether the board knows that a tree passed all of them. */
export async function isGreen(
  { board }: RunContext,
  required: readonly RequiredCheck[],
  tree: string,
): Promise<boolean> {
  const green = new Set(
    (await board.checksOf(tree)).filter(({ end }) => end?.verdict === 'green').map(checkKey),
  );
  return required.every(({ key }) => green.has(key));
}

export interface RunToStart {
  readonly run: number;
  readonly slot: number;
  readonly commit: CommitId;
  readonly tree: string;
}

export interface FailedCheck extends LoggedFault {
  readonly tail: string;
}

type EndedCheckRun = Omit<EndedRun, 'isOntoLanded'> & { readonly tree: string };

interface Running extends RunToStart {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

export class CheckRuns {
  readonly #context: RunContext;
  readonly #target: BranchName;
  readonly #required: readonly RequiredCheck[];
  readonly #onEnd: () => void;
  readonly #running = new Map<number, Running>();
  readonly #failures: Map<number, FailedCheck>;
  #ended: EndedCheckRun[] = [];

  constructor(
    context: RunContext,
    target: BranchName,
    {
      required,
      failures,
      onEnd,
    }: {
      readonly required: readonly RequiredCheck[];
      /** Failed checks by run, for the handback. */
      readonly failures: Map<number, FailedCheck>;
      readonly onEnd: () => void;
    },
  ) {
    this.#context = context;
    this.#target = target;
    this.#required = required;
    this.#failures = failures;
    this.#onEnd = onEnd;
  }

  /** Without abandoned runs, which hold their slot until their processes have ended. */
  get wanted(): readonly number[] {
    return [...this.#running.values()]
      .filter(({ controller }) => !controller.signal.aborted)
      .map(({ run }) => run);
  }

  get slots(): readonly number[] {
    return [...this.#running.values()].map(({ slot }) => slot);
  }

  /** No check runs, and every end was taken: one that came during a look is left to the next. */
  get isIdle(): boolean {
    return this.#running.size === 0 && this.#ended.length === 0;
  }

  start(run: RunToStart): void {
    const controller = new AbortController();
    const done = this.#run(run, controller.signal).finally(() => {
      this.#running.delete(run.run);
      this.#onEnd();
    });
    this.#running.set(run.run, { ...run, controller, done });
  }

  /** Ends them, and waits until their processes have ended. */
  async abandon(runs: readonly number[]): Promise<void> {
    const abandoned = runs.flatMap((run) => this.#running.get(run) ?? []);
    for (const { controller } of abandoned) controller.abort();
    await Promise.all(abandoned.map(({ done }) => done));
  }

  /** Runs that ended since the last call. */
  takeEnded(): readonly EndedCheckRun[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  async stop(): Promise<void> {
    await this.abandon([...this.#running.keys()]);
  }

  async #run({ run, slot, commit, tree }: RunToStart, signal: AbortSignal): Promise<void> {
    const { merging, checks } = this.#context;
    // At once: the leader drops candidates when the target moves.
    const brought = merging.bring(commit);
    brought.catch(() => {});
    const green = new Set(
      (await this.#context.board.checksOf(tree)).filter(({ end }) => end?.verdict === 'green').map(checkKey),
    );
    const lacking = this.#required.filter(({ key }) => !green.has(key));
    const id = drawId('ck-', this.#context.random);
    const end = await brought
      .then(() => checks.run({ id, slot, commit, checks: lacking.map(({ check }) => check), signal }))
      .catch((error: unknown): CheckRunEnd => ({
        kind: 'infrastructure',
        reason: error instanceof Error ? error.message : String(error),
        log: null,
      }));
    if (end.kind === 'cancelled') return;
    const results = end.kind === 'done' ? end.results : [];
    await this.#record(tree, results);
    const last = results.findLast(({ verdict }) => verdict !== 'green');
    const failed = last?.fault == null ? undefined : { ...last, fault: last.fault };
    if (failed !== undefined) this.#failures.set(run, failed);
    if (signal.aborted) return;
    const isWhole = results.filter(({ verdict }) => verdict === 'green').length === lacking.length;
    const verdict = last?.verdict ?? (end.kind === 'done' && isWhole ? 'green' : 'infrastructure');
    const reason =
      end.kind === 'infrastructure' ? end.reason : failed ? faultText(failed) : 'not all checks ran';
    this.#ended.push({ run, verdict, reason, tree, ...(failed && { failed: loggedFault(failed) }) });
  }

  async #record(tree: string, results: readonly CheckResult[]): Promise<void> {
    const { node } = this.#context;
    await change(this.#context, async (change) => {
      for (const { name, verdict, exitCode, log, tookMs } of results) {
        const required = this.#required.find(({ check }) => check.name === name);
        const id = brand<CheckId>(drawId('ck-', this.#context.random));
        const began = Math.max(0, change.at - Math.round(tookMs)) as typeof change.at;
        const { command = JSON.stringify([name]), environment = '' } = required ?? {};
        const of = { target: this.#target, tree, command, environment, node };
        await change.apply(
          decided(
            { type: 'check.started', id, at: began, ...of },
            { type: 'check.ended', id, at: change.at, verdict: verdict satisfies Verdict, exitCode, log },
          ),
        );
      }
    });
  }
}

function loggedFault({ name, setup, fault, log }: FailedCheck): LoggedFault {
  return { name, ...(setup !== undefined && { setup }), fault, log };
}
