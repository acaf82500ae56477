/** Orchestrators come and go, one after another and beside each other; the work goes on, once. */

import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { type EventNumber, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea } from '../../support/cli.ts';
import { expectGoodEnd, explained } from '../../support/agents/runs-checks.ts';
import { type Orchestrating, Run, canSeeProcesses } from '../../support/agents/runs.ts';

const PAST_A_LEASE_MS = 3_500;

const area = newArea();

const ways: readonly (readonly [string, (one: Orchestrating) => void, number | NodeJS.Signals])[] = [
  ['interrupted with Ctrl+C', (one) => one.interrupt(), 0],
  ['killed', (one) => one.signal('SIGKILL'), 'SIGKILL'],
];

describe.each(ways)('an orchestrator that is %s', (_, end, code) => {
  // promise: orchestrator-restart
  it.runIf(canSeeProcesses)('leaves its agents running, and the next one continues with them', async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      const [task] = await run.add('long');
      const first = run.orchestrate();
      const attempt = await run.atWork(task!);
      end(first);
      expect(await first.ended).toBe(code);
      if (code === 0) expect(first.printed).toContain('Stopped. 1 agent');
      // Past its lease: nobody looks, and it is renewed all the same.
      const before = await run.context.board.lease(task!);
      await sleep(PAST_A_LEASE_MS);
      const after = await run.context.board.lease(task!);
      expect(after?.token).toBe(before?.token);
      expect(after?.renewedAt).toBeGreaterThan(before?.renewedAt ?? Infinity);
      expect(await run.runners()).toEqual([attempt.process.pid]);
      expect(run.agents()).toContain(run.agentOf(attempt.id));
      const second = run.orchestrate('--until-idle');
      await sleep(PAST_A_LEASE_MS);
      expect(second.isRunning).toBe(true);
      run.go();
      expect(await second.ended).toBe(0);
      await expectGoodEnd(run);
      expect(await run.countEvents('attempt.started')).toBe(1);
    });
  });
});

describe.runIf(canSeeProcesses)('two orchestrators of one machine', () => {
  // promise: one-claim, lands-once
  it('claim and land each of eight tasks once, and have three agents at a time between them', async () => {
    await using run = await Run.open(area, { policy: { max_agents: 3 } });
    await explained(run, async () => {
      await run.add(...Array.from({ length: 8 }, (_, index) => `steps ${index}`));
      const both = [run.orchestrate('--until-idle'), run.orchestrate('--until-idle')];
      expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
      await expectGoodEnd(run);
      expect(await run.countEvents('task.claimed')).toBe(8);
      expect(await run.countEvents('attempt.started')).toBe(8);
      expect(await mostAtOnce(run)).toBeLessThanOrEqual(3);
    });
  });
});

const together = 'They share the work; when that one ends, this one goes on with all of it.';

describe.runIf(canSeeProcesses)('SIGTERM to one of two orchestrators of one machine', () => {
  it('ends that one only: the other goes on with its agents and starts what is ready', async () => {
    await using run = await Run.open(area, { policy: { max_agents: 1 } });
    await explained(run, async () => {
      const [task] = await run.add('long', 'steps');
      const stays = run.orchestrate();
      await run.atWork(task!);
      const ends = run.orchestrate();
      await run.until(() => ends.printed.includes(`Another orchestrator runs here (process `));
      expect(ends.printed).toContain(together);
      ends.signal('SIGTERM');
      ends.signal('SIGTERM');
      expect(await ends.ended).toBe(0);
      expect(ends.printed).toContain(
        'SIGTERM: this orchestrator ends. Another one here goes on with the work.\n',
      );
      expect(ends.printed).toContain(
        'Stopped. 1 agent keeps running; another orchestrator here looks after it.',
      );
      expect(await run.countEvents('node.drained')).toBe(0);
      run.go();
      await run.until(async () => (await run.countEvents('workspace.released')) === 2);
      expect(await run.countEvents('attempt.started')).toBe(2);
      stays.interrupt();
      expect(await stays.ended).toBe(0);
      const lines = stays.printed.split('\n');
      expect(lines.filter((line) => line.includes(` ${task} landed as `))).toHaveLength(1);
      await expectGoodEnd(run);
    });
  });

  it('drains the node when both get it', async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      const [task] = await run.add('long');
      const both = [run.orchestrate(), run.orchestrate()];
      await run.atWork(task!);
      await run.until(() => both.some(({ printed }) => printed.includes('Another orchestrator runs here')));
      for (const one of both) one.signal('SIGTERM');
      await run.until(async () => (await run.countEvents('node.drained')) > 0);
      run.go();
      expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
      await expectGoodEnd(run);
    });
  });
});

async function mostAtOnce(run: Run): Promise<number> {
  const open = new Set<string>();
  let most = 0;
  const events = await run.context.board.events({ after: brand<EventNumber>(0), limit: 10_000 });
  for (const { event } of events) {
    if (event.type === 'attempt.started') open.add(event.id);
    if (event.type === 'attempt.ended') open.delete(event.id);
    most = Math.max(most, open.size);
  }
  return most;
}
