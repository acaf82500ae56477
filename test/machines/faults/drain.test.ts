/** Nodes that drain, by SIGTERM and by a command, with real orchestrators, runners and agents. */

import { randomBytes } from 'node:crypto';
import path from 'node:path';

import { expect, inject, it } from 'vitest';

import { copse, git, newArea } from '../../support/cli.ts';
import { expectGoodEnd, explained } from '../../support/agents/runs-checks.ts';
import { Run, canSeeProcesses, kill } from '../../support/agents/runs.ts';
import { Proxy } from '../support/proxy.ts';

const area = newArea();
const TIME = 120_000;

async function ledgerOf(run: Run, task: string): Promise<string> {
  const entries = await run.context.board.list('ledger', { task: task as never });
  return entries.map(({ text }) => text).join('\n');
}

// promise: drain-keeps-work
it.runIf(canSeeProcesses)(
  'after SIGTERM, a running agent finishes, no other starts, and the orchestrator ends; it takes work when it starts again',
  async () => {
    await using run = await Run.open(area, { policy: { max_agents: 1 } });
    await explained(run, async () => {
      const [first, second] = await run.add('long', 'steps');
      const orchestrator = run.orchestrate('--node-name', 'desk');
      await run.atWork(first!);
      orchestrator.signal('SIGTERM');
      await run.until(async () => (await run.countEvents('node.drained')) === 1);
      expect(orchestrator.isRunning).toBe(true);
      const list = await copse(['node', 'list'], { cwd: run.folder });
      expect(list.stdout).toMatch(/^desk .* draining, at most \d+ \w+ left, heard from/);
      run.go();
      expect(await orchestrator.ended).toBe(0);
      expect(orchestrator.printed).toContain('Drained: no agent runs on this node any more.');
      expect(await run.statuses()).toMatchObject({ steps: 'ready' });
      expect(await run.countEvents('attempt.started')).toBe(1);
      // A start ends the drain.
      const plan = await copse(['orchestrate', '--dry-run'], { cwd: run.folder });
      expect(plan.stdout).toContain('would start with scripted');
      expect(await run.orchestrate('--until-idle').ended).toBe(0);
      expect((await run.context.board.get('task', second!))?.state.status).toBe('done');
      await expectGoodEnd(run);
    });
  },
  TIME,
);

// promise: drain-keeps-work
it.runIf(canSeeProcesses)(
  'a second SIGTERM hands running work over at once: it is ready, its files are saved, and no retry is used up',
  async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      const [task] = await run.add('long');
      const orchestrator = run.orchestrate('--node-name', 'desk');
      await run.atWork(task!);
      orchestrator.signal('SIGTERM');
      await run.until(() => orchestrator.printed.includes('SIGTERM: no new work starts here'));
      orchestrator.signal('SIGTERM');
      expect(await orchestrator.ended).toBe(0);
      expect(run.agents()).toEqual([]);
      const handed = await run.context.board.get('task', task!);
      expect(handed).toMatchObject({ retries: 0, state: { status: 'ready', delay: { because: 'drained' } } });
      expect(await ledgerOf(run, task!)).toMatch(
        /The attempt was stopped: node desk is draining\.\nUncommitted files, still in the worktree:\n[^]*Saved as refs\/copse\//,
      );
      run.go();
      expect(await run.orchestrate('--until-idle').ended).toBe(0);
      await expectGoodEnd(run);
    });
  },
  TIME,
);

it.runIf(canSeeProcesses)(
  'a SIGTERM that comes while the node joins drains it, and ends it well',
  async () => {
    const direct = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`;
    await using proxy = await Proxy.to(direct);
    await using run = await Run.open(area, { env: { COPSE_BOARD: proxy.through(direct) } });
    await explained(run, async () => {
      // The board has the node, and the orchestrator does not know it yet.
      const joins = proxy.when({ text: 'node.joined', at: 'after', fault: { kind: 'blackhole' } });
      const orchestrator = run.orchestrate('--node-name', 'desk');
      await joins;
      orchestrator.signal('SIGTERM');
      await proxy.heal();
      expect(await orchestrator.ended).toBe(0);
      expect(orchestrator.printed).toContain('Drained: no agent runs on this node any more.');
      expect(await run.countEvents('node.drained')).toBe(1);
    });
  },
);

it.runIf(canSeeProcesses)(
  'a runner that is ended together with its draining node is no crash',
  async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      const [task] = await run.add('long');
      const orchestrator = run.orchestrate('--node-name', 'desk');
      const attempt = await run.atWork(task!);
      orchestrator.signal('SIGTERM');
      await run.until(async () => (await run.countEvents('node.drained')) === 1);
      kill(attempt.process.pid, 'SIGTERM');
      expect(await orchestrator.ended).toBe(0);
      expect(await run.context.board.get('task', task!)).toMatchObject({
        retries: 0,
        state: { status: 'ready' },
      });
      expect(await run.countEvents('task.crashed')).toBe(0);
    });
  },
  TIME,
);

it.runIf(canSeeProcesses)(
  'Ctrl+C ends the orchestrator at once and leaves its agents running, also while it drains',
  async () => {
    await using run = await Run.open(area);
    await explained(run, async () => {
      const [task] = await run.add('long');
      const orchestrator = run.orchestrate();
      const attempt = await run.atWork(task!);
      orchestrator.signal('SIGTERM');
      await run.until(async () => (await run.countEvents('node.drained')) === 1);
      orchestrator.interrupt();
      expect(await orchestrator.ended).toBe(0);
      expect(orchestrator.printed).toContain('1 agent keeps running');
      expect(await run.runners()).toEqual([attempt.process.pid]);
    });
  },
  TIME,
);

it.runIf(canSeeProcesses)(
  'a drained node hands its task over to the other node, and a moved task goes where it was moved',
  async () => {
    const board = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`;
    await using here = await Run.open(area, { env: { COPSE_BOARD: board } });
    const clone = path.join(path.dirname(here.folder), 'another clone');
    git(path.dirname(here.folder), 'clone', '--quiet', here.folder, clone);
    for (const name of ['name', 'email']) git(clone, 'config', `user.${name}`, 'agent@example.invalid');
    await using there = await Run.around(clone, here.log, { COPSE_BOARD: board });
    await explained(here, async () => {
      const [task] = await here.add('long');
      const at = { cwd: here.folder, env: { COPSE_BOARD: board } };
      here.orchestrate('--node-name', 'one');
      const first = await here.atWork(task!);
      there.orchestrate('--node-name', 'two');
      await here.until(async () => (await here.context.board.list('node')).length === 2);
      expect((await copse(['node', 'drain', 'one', '--preview'], at)).stdout).toContain('could go on on two');
      expect((await copse(['node', 'drain', 'one', '--within', '0s'], at)).code).toBe(0);
      await here.until(async () => (await here.countEvents('attempt.started')) === 2);
      const second = await there.atWork(task!);
      expect([second.node, second.token > first.token]).toEqual([there.context.node, true]);
      expect(await ledgerOf(here, task!)).toContain('node one is draining');
      expect((await copse(['list'], at)).stdout).toContain('scripted on two');

      expect((await copse(['node', 'resume', 'one'], at)).code).toBe(0);
      expect((await copse(['move', task!, '--to', 'one'], at)).stdout).toContain('Node one takes');
      await here.until(async () => (await here.countEvents('attempt.started')) === 3);
      const third = await here.atWork(task!);
      expect(third.node).toBe(here.context.node);
      expect(await here.context.board.get('task', task!)).toMatchObject({ retries: 0, moveTo: null });
      expect(await ledgerOf(here, task!)).toContain('it was moved to node one');
    });
  },
  TIME,
);
