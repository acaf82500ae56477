/** A runner that is stopped (SIGSTOP) for longer than its lease: to everybody else it looks dead, and then it is not. */

import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { expect, inject, it } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import { expectGoodEnd, explained } from '../../support/agents/runs-checks.ts';
import { Run, canSeeProcesses, kill } from '../../support/agents/runs.ts';

const area = newArea();

// promise: expired-lease-proves-nothing
it.runIf(canSeeProcesses)(
  'on the same machine it is ended, its work is kept and its task is retried',
  async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      const [task] = await run.add('long');
      const orchestrator = run.orchestrate('--until-idle');
      const stopped = await run.atWork(task!);
      const agent = run.agentOf(stopped.id);
      expect(run.agents()).toContain(agent);
      kill(stopped.process.pid, 'SIGSTOP');
      await run.until(async () => (await run.countEvents('task.crashed')) === 1);
      // Ended first, and only then given to another.
      expect(await run.context.occupancy.isAlive(stopped.process)).toBe(false);
      expect(run.agents()).not.toContain(agent);
      const next = await run.atWork(task!);
      expect(next.id).not.toBe(stopped.id);
      run.go();
      expect(await orchestrator.ended).toBe(0);
      await expectGoodEnd(run);
      const ledger = await run.context.board.list('ledger', { task: task! });
      expect(ledger.map(({ text }) => text).join()).toMatch(
        /has not renewed its lease for .*\n.*still in the worktree:\n  work\//,
      );
    });
  },
  120_000,
);

// promise: stale-token-fenced
it.runIf(canSeeProcesses)(
  'taken over by another machine it is fenced: when it wakes it changes nothing, ends its agent and exits',
  async () => {
    const board = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`;
    await using here = await Run.open(area, { env: { COPSE_BOARD: board } });
    const clone = path.join(path.dirname(here.folder), 'another clone');
    git(path.dirname(here.folder), 'clone', '--quiet', here.folder, clone);
    for (const [key, value] of [
      ['user.name', 'Agent'],
      ['user.email', 'agent@example.invalid'],
    ] as const)
      git(clone, 'config', key, value);
    await using there = await Run.around(clone, here.log, { COPSE_BOARD: board });
    await explained(here, async () => {
      const [task] = await here.add('long');
      const orchestrator = here.orchestrate();
      const stopped = await here.atWork(task!);
      expect(here.agents()).not.toEqual([]);
      kill(stopped.process.pid, 'SIGSTOP');
      orchestrator.signal('SIGKILL');
      await orchestrator.ended;

      const other = there.orchestrate('--until-idle');
      await there.until(async () => (await there.countEvents('attempt.started')) === 2);
      const taken = await there.atWork(task!);
      expect([taken.node, taken.token > stopped.token]).toEqual([there.context.node, true]);

      const before = await here.context.board.lastEvent();
      kill(stopped.process.pid, 'SIGCONT');
      await here.until(() => here.processes().length === 0);
      expect(await here.context.board.lastEvent()).toBe(before);
      expect(await there.runners()).toEqual([taken.process.pid]);
      expect(readdirSync(path.join(here.folder, '.copse', 'attempts'))).toEqual([]);
      const written = path.join(here.folder, '.worktrees', task!, 'work', task!);
      expect(readdirSync(written).map((name) => name.startsWith(stopped.id))).toEqual([true]);
      const log = path.join(here.folder, '.copse', 'logs', task!, `${stopped.id}.runner.log`);
      expect(readFileSync(log, 'utf8')).toContain('Ended: its task was paused, cancelled or taken over');

      there.go(taken.id);
      expect(await other.ended).toBe(0);
      const state = (await there.context.board.get('task', task!))?.state;
      expect(state).toMatchObject({ status: 'done', how: 'landed' });
      expect(git(clone, 'log', '--format=%s', 'main').split('\n')).toHaveLength(2);
    });
  },
  120_000,
);
