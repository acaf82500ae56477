/**
 * Clocks jump: a laptop wakes up, somebody sets the time. Whether a runner lives is judged by its process and by how long its
 * lease was *seen* unchanged, on a clock that nobody sets, so an hour either way means nothing; a runner that is really
 * dead is found all the same.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { Orchestrator } from '../../../packages/copse/src/orchestrator/orchestrate.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea } from '../../support/cli.ts';
import { expectGoodEnd, explained } from '../../support/agents/runs-checks.ts';
import { Run, canSeeProcesses, kill } from '../../support/agents/runs.ts';

const HOUR_MS = 3_600_000;

const area = newArea();

// promise: expired-lease-proves-nothing
it.runIf(canSeeProcesses)(
  'no live runner is declared dead when the clock jumps an hour either way, and a dead one is found',
  async () => {
    await using run = await Run.open(area, { policy: { lease: '2s', lease_renewal: '400ms' } });
    await explained(run, async () => {
      const [first, second] = await run.add('long one', 'long two');
      let offsetMs = 0;
      await using opened = await openJumping(run, () => offsetMs);
      const orchestrator = new Orchestrator(opened.context, () => {});
      await orchestrator.pass();
      const before = await Promise.all([first!, second!].map((task) => run.atWork(task)));
      for (const jump of [HOUR_MS, -HOUR_MS]) {
        offsetMs = jump;
        await passFor(orchestrator, 5_000);
        expect(await run.countEvents('attempt.ended')).toBe(0);
        expect((await run.context.board.held()).map(({ lease }) => lease.token)).toEqual([1, 1]);
        const [lease] = await run.context.board.held();
        // The clock of its runner does not jump.
        expect(Math.abs(lease!.lease.renewedAt - Date.now())).toBeLessThan(HOUR_MS / 2);
      }
      // While the clock is still an hour behind.
      kill(before[0]!.process.pid, 'SIGKILL');
      await run.until(async () => {
        await orchestrator.pass();
        return (await run.countEvents('task.crashed')) === 1;
      });
      const [crash] = await run.context.board.list('ledger', { task: first! });
      expect(crash?.text).toContain('its runner is gone');
      offsetMs = HOUR_MS;
      await run.until(async () => {
        await orchestrator.pass();
        return (await run.countEvents('attempt.started')) === 3;
      });
      const again = await run.atWork(first!);
      expect(again.token).toBeGreaterThan(before[0]!.token);
      expect(await run.runners()).toContain(before[1]!.process.pid);
      run.go();
      await run.until(async () => {
        await orchestrator.pass();
        return Object.values(await run.statuses()).every((status) => status === 'done');
      });
      await orchestrator.settle();
      await expectGoodEnd(run);
    });
  },
  120_000,
);

async function passFor(orchestrator: Orchestrator, ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until;) {
    await orchestrator.pass();
    await sleep(300);
  }
}

/** What an orchestrator has, in this process, with a clock that jumps. */
async function openJumping(
  run: Run,
  offsetMs: () => number,
): Promise<AsyncDisposable & { readonly context: RunContext }> {
  const opened = await openRun({ cwd: run.folder, env: run.env }, { asNode: true });
  const now = () => timestamp(Date.now() + offsetMs());
  return {
    context: { ...opened.context, clock: { ...opened.context.clock, now } },
    [Symbol.asyncDispose]: () => opened.close(),
  };
}
