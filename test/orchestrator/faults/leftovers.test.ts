/** What killed processes leave behind is nobody's, and is put right by whoever comes next. */

import { readdirSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { git, newArea, startCopse } from '../../support/cli.ts';
import { expectGoodEnd, explained } from '../../support/agents/runs-checks.ts';
import { Run, canSeeProcesses, kill } from '../../support/agents/runs.ts';

const area = newArea();

it.runIf(canSeeProcesses)(
  'the next attempt can use git in a worktree with the lock of a killed git',
  async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      await run.add('locked');
      expect(await run.orchestrate('--until-idle').ended).toBe(0);
      await expectGoodEnd(run);
      expect(await run.countEvents('attempt.started')).toBe(2);
    });
  },
);

// promise: crash-loses-nothing, rescue-first
it.runIf(canSeeProcesses)(
  'uncommitted files of an attempt are rescued, although the next one discards them',
  async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      await run.add('wipe');
      expect(await run.orchestrate('--until-idle').ended).toBe(0);
      await expectGoodEnd(run);
      expect(git(run.folder, 'for-each-ref', 'refs/copse/rescue')).not.toBe('');
    });
  },
);

// promise: no-process-left
it.runIf(canSeeProcesses)('forked processes of an agent are ended before its task continues', async () => {
  await using run = await Run.open(area);
  await explained(run, async () => {
    await run.add('fork');
    const orchestrator = run.orchestrate('--until-idle');
    await run.until(() => run.agents().length > 0);
    await run.until(async () => (await run.countEvents('task.queued')) === 1);
    expect(run.agents()).toEqual([]);
    expect(await orchestrator.ended).toBe(0);
    await expectGoodEnd(run);
  });
});

// promise: no-process-left
it.runIf(canSeeProcesses)(
  'an agent whose attempt is over is ended, although its runner and the pausing command were killed',
  async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      const [task] = await run.add('long');
      const orchestrator = run.orchestrate();
      const attempt = await run.atWork(task!);
      orchestrator.signal('SIGKILL');
      kill(attempt.process.pid, 'SIGSTOP');
      const pausing = startCopse(['pause', task!], { cwd: run.folder, env: run.env });
      await run.until(async () => (await run.statuses())['long'] === 'paused');
      pausing.kill('SIGKILL');
      kill(attempt.process.pid, 'SIGKILL');
      expect(run.agents()).toContain(run.agentOf(attempt.id));

      expect(await run.orchestrate('--until-idle').ended).toBe(0);
      expect(run.processes()).toEqual([]);
      expect(readdirSync(path.join(run.folder, '.copse', 'attempts'))).toEqual([]);
      expect(await run.statuses()).toEqual({ long: 'paused' });
    });
  },
);
