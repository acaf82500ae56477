/**
 * Runners that are killed before they have told who they are, or tell it too late. Whoever started one has written down
 * which process it is, so it is found at the next look; where nobody could, it is waited for, and shut out afterwards.
 */

import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { processesOfAttempt } from '../../../packages/copse/src/processes/end.ts';
import { attemptFiles } from '../../../packages/copse/src/agents/files/attempt-files.ts';
import { openRunners } from '../../../packages/copse/src/agents/files/runners.ts';
import { Orchestrator } from '../../../packages/copse/src/orchestrator/orchestrate.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { type OpenRun, openRun } from '../../../packages/copse/src/compose/run/run.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import type { ProcessIdentity } from '../../../packages/copse/src/kernel/process.ts';
import type { Attempt } from '../../../packages/copse/src/tasks/rules/attempt.ts';
import { cliFile, git, newArea } from '../../support/cli.ts';
import { expectGoodEnd, explained } from '../../support/agents/runs-checks.ts';
import { Run, canSeeProcesses, kill } from '../../support/agents/runs.ts';

const area = newArea();

it.runIf(canSeeProcesses)('a runner killed before it registered is a crash at the next pass', async () => {
  await using run = await Run.open(area);
  await explained(run, async () => {
    await using late = await Late.open(run);
    const [task] = await run.add('steps');
    const { attempt, runner } = await late.begin(task!);
    await late.look();
    expect(await run.countEvents('task.crashed')).toBe(0);
    kill(runner.pid, 'SIGKILL');
    await run.until(async () => !(await run.context.occupancy.isAlive(runner)));
    // One look, long before anybody would lose patience with a runner that lives.
    await late.look();
    expect(await late.crashes(task!)).toEqual([expect.stringContaining('its runner is gone')]);
    expect((await run.context.board.get('attempt', attempt.id))?.end?.reason).toBe('crashed');
    await late.finish();
    expect(await run.countEvents('attempt.started')).toBe(2);
  });
});

// promise: expired-lease-proves-nothing
it.runIf(canSeeProcesses)(
  'a live runner that does not register is ended before its task is retried, and the reason has its last words',
  async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      await using late = await Late.open(run, { runnerStartMs: 1_000 });
      const [task] = await run.add('steps');
      const { attempt, runner } = await late.begin(task!);
      const log = path.join(run.folder, '.copse', 'logs', task!, `${attempt.id}.runner.log`);
      appendFileSync(log, 'file:1\n\nError: No board.\n    at x\n  code: 1\n}\n\nNode.js v26.1.0\n');
      await run.until(async () => {
        await late.look();
        return (await run.countEvents('task.crashed')) === 1;
      });
      expect(await run.context.occupancy.isAlive(runner)).toBe(false);
      const reason = 'its runner did not start within 1 s; its log ends with: Error: No board.';
      expect(await late.crashes(task!)).toEqual([expect.stringContaining(reason)]);
      await late.finish();
    });
  },
);

it.runIf(canSeeProcesses).each([
  ['with its orders taken away', false],
  // By another node, which cannot take anything away here.
  ['with its orders still there', true],
])(
  'a runner that starts after its attempt was given up, %s, changes nothing and exits',
  async (_, hasOrders) => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      await using late = await Late.open(run, { runnerStartMs: 1_000 });
      const [task] = await run.add('steps');
      const { attempt, runner } = await late.begin(task!);
      const files = attemptFiles(run.folder, attempt.id);
      const saved = path.join(area, 'orders');
      copyFileSync(files.orders, saved);
      // As if whoever started it had been killed before it could write that down.
      rmSync(files.runner);
      await run.until(async () => {
        await late.look();
        return (await run.countEvents('task.crashed')) === 1;
      });
      expect(await run.context.occupancy.isAlive(runner)).toBe(true);
      if (hasOrders) copyFileSync(saved, files.orders);

      const before = await late.everything();
      late.letStart(attempt);
      await run.until(async () => !(await run.context.occupancy.isAlive(runner)));
      expect(await late.everything()).toEqual(before);
      expect(run.said()).toEqual([]);
      expect(readdirSync(path.dirname(files.orders))).toEqual([]);
      if (hasOrders) {
        const log = path.join(run.folder, '.copse', 'logs', task!, `${attempt.id}.runner.log`);
        expect(readFileSync(log, 'utf8')).toContain('Ended: its task was paused, cancelled or taken over');
      }
      await late.finish();
      expect(await run.countEvents('attempt.started')).toBe(2);
    });
  },
);

// promise: expired-lease-proves-nothing
it.runIf(canSeeProcesses)('a runner that registers while it is being given up continues', async () => {
  await using run = await Run.open(area);
  await explained(run, async () => {
    const [task] = await run.add('steps');
    let isGivenUp = false;
    let looks = 0;
    await using late = await Late.open(run, { runnerStartMs: 1_000 }, ({ board }) => ({
      // Asked twice while it is given up: the second time is the last step before the crash is recorded.
      async processesOf() {
        looks += 1;
        if (looks !== 2) return [];
        const [attempt] = await board.list('attempt', { task: task! });
        isGivenUp = true;
        late.letStart(attempt!);
        await run.until(async () => (await board.get('attempt', attempt!.id))?.process !== null);
        return [];
      },
    }));
    const { attempt } = await late.begin(task!);
    rmSync(attemptFiles(run.folder, attempt.id).runner);
    await run.until(async () => {
      await late.look();
      return isGivenUp;
    });
    await late.finish();
    expect(await run.countEvents('task.crashed')).toBe(0);
    expect(await run.countEvents('attempt.started')).toBe(1);
  });
});

/** An orchestrator in this process, whose runners do not begin before they may. */
class Late implements AsyncDisposable {
  readonly #run: Run;
  readonly #context: RunContext;
  readonly #gate: string;
  #orchestrator: Orchestrator;
  readonly #opened: OpenRun;

  private constructor(run: Run, context: RunContext, gate: string, opened: OpenRun) {
    this.#run = run;
    this.#context = context;
    this.#gate = gate;
    this.#opened = opened;
    this.#orchestrator = new Orchestrator(context, () => {});
  }

  static async open(
    run: Run,
    orchestration: Partial<RunContext['policy']['orchestration']> = {},
    otherwise: (context: RunContext) => Partial<RunContext['runners']> = () => ({}),
  ) {
    const opened = await openRun({ cwd: run.folder, env: run.env }, { asNode: true });
    const { context } = opened;
    const policy = {
      ...context.policy,
      orchestration: { ...context.policy.orchestration, ...orchestration },
    };
    const [agent] = context.agents;
    const gate = `${run.log}.gate`;
    mkdirSync(gate);
    const runners = openRunners({
      home: context.home,
      program: ['/bin/sh', '-c', WAITING, gate, process.execPath, RUNNER],
      environment: run.env,
      identify: (pid) => context.occupancy.identify(pid),
      processesOf: processesOfAttempt,
      settingsOf: () => ({ agent, policy }),
    });
    const asked = { ...runners, ...otherwise(context) };
    return new Late(run, { ...context, policy, runners: asked }, gate, opened);
  }

  /** Begins the task; its runner is a process by then, and has told nobody. */
  async begin(task: TaskId): Promise<{ readonly attempt: Attempt; readonly runner: ProcessIdentity }> {
    await this.look();
    const [attempt] = await this.#context.board.list('attempt', { task });
    const runner = attempt && (await this.#context.runners.runnerOf(attempt.id));
    if (!attempt || !runner) throw new Error(`${task} has no runner`);
    if (attempt.process !== null) throw new Error(`The runner of ${task} has told who it is`);
    return { attempt, runner };
  }

  async look(): Promise<void> {
    await this.#orchestrator.pass();
    await this.#orchestrator.settle();
  }

  letStart({ id }: Attempt): void {
    writeFileSync(path.join(this.#gate, `${id}.json`), '');
  }

  async crashes(task: TaskId): Promise<readonly string[]> {
    const ledger = await this.#context.board.list('ledger', { task });
    return ledger.flatMap(({ kind, text }) => (kind === 'crash' ? [text] : []));
  }

  async everything(): Promise<unknown> {
    const { folder } = this.#run;
    return {
      events: await this.#context.board.lastEvent(),
      refs: git(folder, 'for-each-ref'),
      worktrees: git(folder, 'worktree', 'list', '--porcelain'),
      status: git(folder, 'status', '--porcelain'),
    };
  }

  /** From now on every runner begins at once, and has the time that it needs. */
  async finish(): Promise<void> {
    writeFileSync(path.join(this.#gate, 'all'), '');
    this.#orchestrator = new Orchestrator({ ...this.#context, policy: this.#run.context.policy }, () => {});
    await this.#run.until(async () => {
      await this.look();
      return Object.values(await this.#run.statuses()).every((status) => status === 'done');
    });
    await expectGoodEnd(this.#run);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.close();
  }
}

const WAITING =
  'file=${3##*/}; until [ -e "$0/$file" ] || [ -e "$0/all" ]; do sleep 0.05; done; exec "$1" "$2" "$3"';
const RUNNER = path.join(path.dirname(cliFile), 'runner.js');
