/** Whole runs on a PostgreSQL that is away for a while: orchestrators and runners wait, and go on. */

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { describe, expect, inject, it } from 'vitest';

import { type EventNumber, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea, commitAsAgent } from '../../support/cli.ts';
import { Run, canSeeProcesses } from '../../support/agents/runs.ts';
import { expectGoodEnd, explained } from '../../support/agents/runs-checks.ts';
import { isLong } from '../../support/long.ts';
import { Proxy } from '../support/proxy.ts';

const area = newArea();

async function openRun(policy?: Readonly<Record<string, string>>) {
  const direct = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`;
  const proxy = await Proxy.to(direct);
  const run = await Run.open(area, {
    env: { COPSE_BOARD: proxy.through(direct) },
    ...(policy && { policy }),
  });
  return { proxy, direct, run };
}

const told = (text: string, what: RegExp) => text.match(new RegExp(what, 'g'))?.length ?? 0;

const AWAY = /Waiting for it/;
const BACK = /The board is back/;

const kinds = ['refuse', 'blackhole', 'half-open', 'cut'] as const;
const [ten, thirty, ninety] = [10_000, 30_000, 90_000];
/** Every kind for ten seconds, and one for longer than the server keeps a lost client; COPSE_OUTAGES=all: each for each time. */
const long =
  process.env['COPSE_OUTAGES'] === 'all'
    ? kinds.flatMap((kind) => [ten, thirty, ninety].map((ms) => ({ kind, ms })))
    : [{ kind: 'blackhole' as const, ms: thirty }, ...kinds.map((kind) => ({ kind, ms: ten }))];
const outages: readonly { readonly kind: (typeof kinds)[number]; readonly ms: number }[] = isLong
  ? long
  : [
      { kind: 'refuse', ms: 7_000 },
      { kind: 'half-open', ms: 100 },
    ];

// Beside each other: they wait, each with a board of its own.
describe.runIf(canSeeProcesses).concurrent('an outage of the board', () => {
  // promise: outage-costs-nothing
  it.each(outages)('($kind, $ms ms) costs no attempt', { timeout: 300_000 }, async ({ kind, ms }) => {
    // Longer than the outage, so that the runner is not cut off.
    const { proxy, run } = await openRun({ lease: `${Math.max(3, Math.ceil(ms / 3_000))}s` });
    await using _ = proxy;
    await using _run = run;
    await explained(run, async () => {
      const [task] = await run.add('long');
      const orchestrator = run.orchestrate('--until-idle');
      await run.atWork(task!);
      await proxy.apply({ kind });
      await setTimeout(ms);
      expect(orchestrator.isRunning).toBe(true);
      await proxy.heal();
      const back = performance.now();
      run.go();
      expect(await orchestrator.ended).toBe(0);
      expect(performance.now() - back).toBeLessThan(30_000);
      await expectGoodEnd(run);
      expect(await run.countEvents('attempt.started')).toBe(1);
      expect(await run.countEvents('task.crashed')).toBe(0);
      if (kind === 'refuse') {
        expect(told(orchestrator.printed, AWAY)).toBe(1);
        expect(told(orchestrator.printed, BACK)).toBe(1);
      }
      expect(orchestrator.printed).not.toMatch(/ at .*\.js:|secret/);
    });
  });

  it.each([
    ['while a runner starts', 'copse (runner)', 'before'],
    ['while the end of an attempt is recorded', 'session.completed', 'before'],
    ['before the answer to that', 'session.completed', 'after'],
  ] as const)('that begins %s costs no attempt', async (_, text, at) => {
    const { proxy, run } = await openRun();
    await using _proxy = proxy;
    await using _run = run;
    await explained(run, async () => {
      await run.add('steps');
      const began = proxy.when({ text, at, fault: { kind: 'refuse' } });
      const orchestrator = run.orchestrate('--until-idle');
      await began;
      await setTimeout(2_000);
      await proxy.heal();
      expect(await orchestrator.ended).toBe(0);
      await expectGoodEnd(run);
      expect(await run.countEvents('attempt.started')).toBe(1);
      expect(await run.countEvents('attempt.ended')).toBe(1);
    });
  });

  // promise: board-away
  it('ends an orchestrator that is told to stop, and its agent works on', async () => {
    const { proxy, run } = await openRun();
    await using _ = proxy;
    await using _run = run;
    await explained(run, async () => {
      const [task] = await run.add('long');
      const orchestrator = run.orchestrate();
      const { id } = await run.atWork(task!);
      await proxy.apply({ kind: 'blackhole' });
      await setTimeout(1_000);
      const began = performance.now();
      orchestrator.signal('SIGINT');
      expect(await orchestrator.ended).toBe(0);
      expect(performance.now() - began).toBeLessThan(10_000);
      expect(orchestrator.printed).toContain('Stopped while the board was away.');
      expect(run.agents()).toContain(run.agentOf(id));
      await proxy.heal();
      run.go();
      expect(await run.orchestrate('--until-idle').ended).toBe(0);
      await expectGoodEnd(run);
      expect(await run.countEvents('attempt.started')).toBe(1);
    });
  });

  // promise: outage-costs-nothing
  it('that lasts stops the agent, keeps its work, and uses up no retry', { timeout: 180_000 }, async () => {
    const { proxy, run } = await openRun();
    await using _ = proxy;
    await using _run = run;
    await explained(run, async () => {
      const [task] = await run.add('long');
      const orchestrator = run.orchestrate('--until-idle');
      const { id } = await run.atWork(task!);
      await proxy.apply({ kind: 'refuse' });
      await run.until(() => run.agents().length === 0);
      const note = path.join(run.folder, '.copse', 'attempts', `${id}.outdated.json`);
      await run.until(() => existsSync(note));
      expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ because: 'cut_off' });
      const written = path.join(run.folder, '.worktrees', task!, 'work', task!);
      expect(readdirSync(written).map((name) => name.startsWith(id))).toEqual([true]);
      await proxy.heal();
      run.go();
      expect(await orchestrator.ended).toBe(0);
      await expectGoodEnd(run);
      expect(await run.countEvents('task.crashed')).toBe(0);
      expect(await run.countEvents('attempt.started')).toBe(2);
      const ledger = await run.context.board.list('ledger', { task: task! });
      expect(ledger.map(({ text }) => text).join()).toContain(
        'was stopped: The board could not be reached for',
      );
    });
  });

  // promise: stale-token-fenced
  it.runIf(isLong)(
    'of one machine lets another take its task; when it is back it records and lands nothing of it',
    async () => {
      const { proxy, direct, run: here } = await openRun();
      await using _ = proxy;
      await using _here = here;
      const clone = path.join(path.dirname(here.folder), 'another clone');
      git(path.dirname(here.folder), 'clone', '--quiet', here.folder, clone);
      commitAsAgent(clone);
      await using there = await Run.around(clone, here.log, { COPSE_BOARD: direct });
      await explained(there, async () => {
        const [task] = await there.add('long');
        const orchestrator = here.orchestrate();
        const old = await there.atWork(task!);
        const other = there.orchestrate();
        await proxy.apply({ kind: 'blackhole' });
        await there.until(async () => (await there.countEvents('attempt.started')) === 2);
        const taken = await there.atWork(task!);
        expect([taken.node, taken.token > old.token]).toEqual([there.context.node, true]);
        // Cut off: its agent is stopped while the network is still away.
        await there.until(() => here.agents().every((pid) => pid !== here.agentOf(old.id)));
        await there.until(() => told(orchestrator.printed, AWAY) === 1);
        await proxy.heal();
        await there.until(() => told(orchestrator.printed, BACK) === 1);
        const attempts = path.join(here.folder, '.copse', 'attempts');
        await there.until(() => !readdirSync(attempts).some((name) => name.startsWith(old.id)));
        const events = await there.context.board.events({ after: brand<EventNumber>(0), limit: 1_000 });
        const late = events.filter(({ by }) => by.kind === 'session' && by.token === old.token);
        expect(late.every(({ event }) => event.at < taken.startedAt)).toBe(true);
        const written = path.join(here.folder, '.worktrees', task!, 'work', task!);
        expect(readdirSync(written).some((name) => name.startsWith(old.id))).toBe(true);
        for (const one of [orchestrator, other]) one.signal('SIGINT');
        expect([await orchestrator.ended, await other.ended]).toEqual([0, 0]);
      });
    },
  );
});
