/** Runs the commands of one run in its worktree: first the set-up, then the checks. */

import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CheckCommand, CheckRequest, CheckResult, CheckRunEnd } from '../ports/checks.ts';
import { type AttemptId, brand } from '../../kernel/ids.ts';
import type { EndedLeftovers, Leftovers, Sandbox, Step, StepEnd } from '../../processes/ports/programs.ts';
import { processList } from '../../kernel/process.ts';
import { isWithin } from '../../kernel/system/within.ts';
import { markOf, stepMarkOf, variablesOf } from './environment.ts';
import { type CheckOutput, keepOutput } from './output.ts';
import type { CheckRunner } from './runner.ts';
import { type SlotNote, type SlotNotes, notesOf } from './slot-note.ts';
import { type CheckFault, faultClause, faultText } from '../rules/check-fault.ts';
import { type Judgement, infrastructure, judge } from './verdict.ts';

export interface RunOptions {
  readonly runner: CheckRunner;
  readonly request: CheckRequest;
  readonly worktree: string;
  readonly sandbox: Sandbox | null;
  /** Sentences about the worktree for a person, missing files for example. */
  readonly remarks: readonly string[];
  readonly note: SlotNote;
}

const FULL_BYTES = defaultPolicy.checkRuns.freeBytes;

interface Command extends Omit<CheckCommand, 'name' | 'workingDirectory'> {
  /** Part of the mark of its processes. */
  readonly step: string;
  /** The file that lists its processes. */
  readonly record: string;
  readonly output: CheckOutput;
}

const SETUP = 'setup';

export class RunCommands {
  readonly #runner: CheckRunner;
  readonly #request: CheckRequest;
  readonly #worktree: string;
  readonly #note: SlotNote;
  readonly #notes: SlotNotes;
  readonly #setupLog: string;
  readonly #sandbox: Sandbox | null;
  /** Kept open until the run ends: processes that set-up left running still print. */
  readonly #setupOutput: CheckOutput;
  readonly #drains: StepEnd['drain'][] = [];

  constructor({ runner, request, worktree, sandbox, remarks, note }: RunOptions) {
    this.#runner = runner;
    this.#request = request;
    this.#worktree = worktree;
    this.#note = note;
    this.#notes = notesOf(runner.home, request.slot);
    this.#setupLog = this.#logOf('_setup');
    this.#setupOutput = keepOutput({ file: this.#setupLog, tailLines: runner.tailLines });
    this.#sandbox = sandbox;
    for (const remark of remarks) this.#say(remark);
  }

  /** Undefined when set-up succeeded, else the end of the run. */
  async setUp(): Promise<CheckRunEnd | undefined> {
    for (const [index, line] of this.#runner.setup.commands.entries()) {
      const began = performance.now();
      this.#say(`$ ${line}`);
      const end = await this.#runSetup(line, index + 1);
      if (end.ending.kind === 'cancelled') return { kind: 'cancelled' };
      const timeoutMs = this.#runner.settings.commandTimeoutMs;
      const { verdict, fault } = await this.#judge(
        end,
        { command: line, timeoutMs, env: {} },
        this.#worktree,
      );
      if (fault === null) continue;
      const { tail } = await this.close();
      const failed = { name: SETUP, setup: line, fault };
      const log = this.#setupLog;
      if (verdict !== 'red') return { kind: 'infrastructure', reason: faultText(failed), log };
      const of = { ...failed, verdict, exitCode: codeOf(end), log, tail };
      return { kind: 'done', results: [{ ...of, tookMs: tookSince(began) }] };
    }
    return undefined;
  }

  async checks(): Promise<CheckRunEnd> {
    const results: CheckResult[] = [];
    for (const [index, check] of this.#request.checks.entries()) {
      const result = await this.#check(check, String(index + 1));
      if (result === undefined) return { kind: 'cancelled' };
      results.push(result);
      if (result.verdict !== 'green') break;
    }
    return { kind: 'done', results };
  }

  /** Ends every process of the run. May be repeated. */
  async close(): Promise<{ readonly tail: string }> {
    await this.#end({
      mark: markOf(this.#request.id),
      records: this.#notes.records(),
      since: this.#note.since,
    });
    for (const drain of this.#drains.splice(0)) await drain();
    this.#sandbox?.close();
    return this.#setupOutput.close();
  }

  /** Undefined when it was cancelled. */
  async #check(check: CheckCommand, step: string): Promise<CheckResult | undefined> {
    const { name } = check;
    const began = performance.now();
    const folder = await this.#folderOf(check);
    if ('verdict' in folder) return { name, exitCode: null, log: null, tail: '', tookMs: 0, ...folder };
    const log = this.#logOf(name);
    const output = keepOutput({ file: log, tailLines: this.#runner.tailLines });
    const record = this.#notes.recordOf(step);
    const end = await this.#run(folder.path, { ...check, step, record, output });
    const left = await this.#endStep(step, end.since);
    await end.drain();
    const { tail, problem } = output.close();
    if (end.ending.kind === 'cancelled') return undefined;
    const judgement =
      problem !== null
        ? infrastructure(`printed output that could not be written to its log (${problem})`)
        : left.remaining.length > 0
          ? infrastructure(`left processes that cannot be ended: ${processList(left.remaining)}`)
          : await this.#judge(end, check, folder.path);
    return {
      name,
      exitCode: codeOf(end),
      log,
      tail,
      tookMs: tookSince(began),
      ...judgement,
    };
  }

  async #runSetup(line: string, number: number): Promise<StepEnd> {
    const { setup, settings } = this.#runner;
    const end = await this.#run(this.#worktree, {
      command: line,
      env: setup.environment(this.#worktree),
      timeoutMs: settings.commandTimeoutMs,
      step: SETUP,
      record: this.#notes.recordOf(`${SETUP}-${number}`),
      output: this.#setupOutput,
    });
    this.#drains.push(end.drain);
    return end;
  }

  #run(folder: string, { command, env, timeoutMs, step, record, output }: Command): Promise<StepEnd> {
    return this.#runner.steps.run({
      ...this.#confined({ command, folder, environment: this.#environment(step, env) }),
      timeoutMs,
      signal: this.#request.signal,
      output,
      record,
    });
  }

  #confined(free: Pick<Step, 'command' | 'folder' | 'environment'>): typeof free {
    if (this.#sandbox === null) return free;
    const { command, ...rest } = free;
    const [file = '', ...args] =
      typeof command === 'string' ? ['sh', '-c', `exec 2>&1; ${command}`] : command;
    const attempt = brand<AttemptId>(this.#request.id);
    const { argv, folder, environment } = this.#sandbox.wrap({ argv: [file, ...args], ...rest, attempt });
    return { command: argv, folder, environment };
  }

  #environment(step: string, env: CheckCommand['env']): Record<string, string> {
    const { id, slot } = this.#request;
    const { environment, root } = this.#runner;
    return variablesOf(environment, { id, slot, step, root, worktree: this.#worktree }, env);
  }

  /** Processes that set-up left running stay. */
  #endStep(step: string, since: number): Promise<EndedLeftovers> {
    const spare = { mark: stepMarkOf(this.#request.id, SETUP), records: this.#setupRecords() };
    const mark = stepMarkOf(this.#request.id, step);
    return this.#end({ mark, records: [this.#notes.recordOf(step)], since, spare });
  }

  #setupRecords(): readonly string[] {
    return this.#runner.setup.commands.map((_, index) => this.#notes.recordOf(`${SETUP}-${index + 1}`));
  }

  #end(of: Pick<Leftovers, 'mark' | 'records' | 'since' | 'spare'>): Promise<EndedLeftovers> {
    return this.#runner.steps.end({
      ...of,
      folder: this.#worktree,
      visitors: this.#note.visitors,
      graceMs: this.#runner.graceMs,
    });
  }

  async #judge(
    { ending }: StepEnd,
    check: Pick<CheckCommand, 'command' | 'timeoutMs' | 'env'>,
    folder: string,
  ): Promise<Judgement> {
    if (ending.kind === 'cancelled') throw new Error('A cancelled step has no verdict');
    const where = { worktree: this.#worktree, folder, environment: this.#environment('judge', check.env) };
    const judgement = judge(ending, check, where);
    if (judgement.verdict !== 'red' || (await this.#runner.freeBytes(folder)) >= FULL_BYTES) return judgement;
    return infrastructure(`${wordsOf(judgement.fault)}, and the disk is full`);
  }

  async #folderOf({ workingDirectory }: CheckCommand): Promise<{ readonly path: string } | Judgement> {
    const folder = path.resolve(this.#worktree, workingDirectory ?? '.');
    const outside = 'would run outside the worktree: its working_directory leads there';
    if (!isWithin(this.#worktree, folder)) return infrastructure(outside);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      return { verdict: 'red', fault: { kind: 'no_folder', folder: workingDirectory ?? '.' } };
    return isWithin(this.#worktree, await realpath(folder))
      ? { path: folder }
      : { verdict: 'red', fault: { kind: 'other', text: outside } };
  }

  #say(line: string): void {
    this.#setupOutput.write(Buffer.from(`${line}\n`));
  }

  #logOf(name: string): string {
    return path.join(this.#runner.home, '.copse', 'logs', 'queue', this.#request.id, `${name}.log`);
  }
}

function codeOf({ ending }: StepEnd): number | null {
  return ending.kind === 'exit' ? ending.code : null;
}

function wordsOf(fault: CheckFault | null): string {
  return fault === null ? 'passed' : faultClause(fault);
}

function tookSince(began: number): number {
  return Math.round(performance.now() - began);
}
