/** Who leads a queue is judged by silence that a machine saw itself: no clock of another machine counts. */

import { describe, expect, it, vi } from 'vitest';

import { newArea, startCopse } from '../../support/cli.ts';
import { until } from '../../support/queue/queue-scene.ts';
import { type Clone, Clones, MAIN } from '../support/clones.ts';
import { beginAttempt } from '../../../packages/copse/src/agents/act/begin-attempt.ts';
import {
  type AgentName,
  type CommitId,
  type FencingToken,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import { resolveByTask } from '../../../packages/copse/src/queue/act/conflict-task.ts';
import { handBack } from '../../../packages/copse/src/queue/lead/hand-back.ts';
import { lead, queueResource } from '../../../packages/copse/src/queue/lead/leadership.ts';

vi.setConfig({ testTimeout: 120_000 });
const area = newArea();
const HOUR_MS = 3_600_000;

async function pair(name: string): Promise<readonly [Clones, Clone, Clone]> {
  const clones = new Clones(area, name);
  const [one, other] = clones.machines;
  if (one === undefined || other === undefined) throw new Error('There are not two clones');
  return [clones, one, other];
}

describe.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('a machine whose clock is an hour %s', (name, aheadMs) => {
  // promise: lead-by-silence
  it('keeps the lead while it renews, and loses it after a lead of silence', async () => {
    const [clones, wrong, right] = await pair(`clock ${name}`);
    await using _ = clones;
    wrong.aheadMs = aheadMs;
    const first = await clones.queue('first');
    expect(await wrong.lead()).toMatchObject({ landed: [first] });
    const second = await clones.queue('second');
    // The leader is alive: its lead counts, whatever time stands on it.
    expect(await right.lead()).toBeUndefined();
    await right.watch(40_000);
    expect(await right.lead()).toBeUndefined();
    wrong.elapsedAheadMs += 40_000;
    expect(await wrong.lead()).toMatchObject({ landed: [second] });
    const third = await clones.queue('third');
    await right.watch(40_000);
    expect(await right.lead()).toBeUndefined();
    // It is lost: from here on it renews nothing.
    await right.watch(30_000);
    expect(await right.lead()).toMatchObject({ landed: [third] });
    expect(clones.landed).toEqual([first, second, third]);
    const fourth = await clones.queue('fourth');
    expect(await wrong.lead()).toBeUndefined();
    expect(await right.lead()).toMatchObject({ landed: [fourth] });
  });
});

it('a lead that was given back is taken at once', async () => {
  const [clones, one, other] = await pair('given back');
  await using _ = clones;
  const first = await clones.queue('first');
  expect(await one.lead({ isKept: false })).toMatchObject({ landed: [first] });
  const { board } = await other.open();
  expect(await board.get('resource', queueResource(MAIN))).toMatchObject({ holder: null });
  const second = await clones.queue('second');
  expect(await other.lead()).toMatchObject({ landed: [second] });
});

it('a merge while another machine leads says which one, and ends when that one has landed it', async () => {
  const [clones, leader, other] = await pair('merge elsewhere');
  await using _ = clones;
  const first = await clones.queue('first');
  expect(await leader.lead()).toMatchObject({ landed: [first] });
  const second = await clones.queue('second');
  const merge = startCopse(['merge', second], { cwd: other.folder, env: { COPSE_BOARD: clones.board } });
  let said = '';
  merge.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise((resolve) => merge.once('exit', resolve));
  await until('it says who leads', () => /^Machine .* leads the queue of main; waiting for it\./m.test(said));
  expect(said).toContain('If it is silent for 60 s, this command takes the lead.');
  expect(await leader.lead()).toMatchObject({ landed: [second] });
  expect(await ended).toBe(0);
  expect(said).toContain(`Landed ${second}`);
});

it('a leader that lost its lead hands nothing back: not to a person, an agent or a resolver', async () => {
  const [clones, one] = await pair('hand back');
  await using _ = clones;
  const task = await clones.queue('first');
  const context = await one.open();
  const [landing] = await context.board.openLandings();
  if (landing === undefined) throw new Error('It is in the queue');
  const cause = { because: 'conflict', reason: 'first.txt', isTimeout: false } as const;
  const rejected = { landing, cause, tip: brand<CommitId>(clones.tip) };
  await lead(context, MAIN, async (own) => {
    const lost = { ...own, token: (own.token - 1) as FencingToken };
    const request = { kind: 'handback', lead: lost, landing, cause, target: rejected.tip } as const;
    const refusals = [
      await handBack(context, lost, rejected, null),
      await resolveByTask(context, lost, landing, cause),
      await beginAttempt(context, task, brand<AgentName>('scripted'), request),
    ];
    for (const one of refusals) expect(one).toMatchObject({ kind: 'refused', refusal: { code: 'fenced' } });
    expect((await context.board.get('task', task))?.state).toMatchObject({ status: 'landing' });
    expect(await handBack(context, own, rejected, null)).toMatchObject({ kind: 'done' });
  });
  expect((await context.board.get('task', task))?.state).toMatchObject({ status: 'needs_attention' });
});
