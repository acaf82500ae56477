/** The last snapshot of an attempt that is stopped, or that lost its task to another machine. */

import { expect, it } from 'vitest';

import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { kill } from '../../support/agents/runs.ts';
import { git, newArea } from '../../support/cli.ts';
import { isRunning } from '../../support/queue/checks.ts';
import { Fleet } from '../support/nodes.ts';
import { Proxy } from '../support/proxy.ts';

const area = newArea();

const AGENT = `
echo committed >"$COPSE_TASK_ID.committed"
commit "$COPSE_TASK_ID.committed"
until_told
echo late >"$COPSE_TASK_ID.late"
say wrote late
while :; do sleep 1; done`;

/** Only commits, ends and losses make snapshots here. */
const policy = { snapshot_every: '1h' };

it('a task that a person pauses on another machine leaves its last changes on the remote', async () => {
  await using fleet = await Fleet.open(area, 2, { agent: AGENT, policy });
  const [task] = await fleet.add('one');
  fleet.machine(1).start();
  try {
    await fleet.until(async () => (await snapshotOf(fleet, task!)).includes('.committed'));
    fleet.tell();
    await fleet.until(() => fleet.said().includes(`wrote ${task} late`));
    expect(await snapshotOf(fleet, task!)).not.toContain('.late');
    expect(await fleet.machine(2).copse('pause', task!)).toMatchObject({ code: 0 });
    await fleet.until(async () => (await snapshotOf(fleet, task!)).includes('.late'));
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
});

it('a machine that drains leaves the last changes of its agents on the remote', async () => {
  await using fleet = await Fleet.open(area, 2, { agent: AGENT, policy });
  const [task] = await fleet.add('one');
  const orchestrator = fleet.machine(1).start();
  try {
    await fleet.until(async () => (await snapshotOf(fleet, task!)).includes('.committed'));
    fleet.tell();
    await fleet.until(() => fleet.said().includes(`wrote ${task} late`));
    orchestrator.signal('SIGTERM');
    await fleet.until(() => orchestrator.printed.includes('no new work starts here'));
    orchestrator.signal('SIGTERM');
    expect(await orchestrator.ended).toBe(0);
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
  expect(await snapshotOf(fleet, task!)).toContain('.late');
  expect(await fleet.board.get('task', task!)).toMatchObject({ retries: 0, state: { status: 'ready' } });
});

it('a machine that was suspended finds itself fenced and hands its work in beside that of the next one', async () => {
  await using fleet = await Fleet.open(area, 2, { agent: AGENT, policy: { ...policy, lease: '3s' } });
  const [task] = await fleet.add('one');
  const [first, second] = [fleet.machine(1), fleet.machine(2)];
  const orchestrator = first.start();
  try {
    await fleet.until(async () => (await snapshotOf(fleet, task!)).includes('.committed'));
    const [runner] = (await fleet.board.list('attempt', { task: task! })).flatMap((one) => one.process ?? []);
    kill(runner!.pid, 'SIGSTOP');
    orchestrator.signal('SIGKILL');
    fleet.tell();
    await fleet.until(() => fleet.said().includes(`wrote ${task} late`));
    second.start();
    await fleet.until(async () => (await fleet.board.list('attempt', { task: task! })).length === 2);
    kill(runner!.pid, 'SIGCONT');
    await fleet.until(async () => (await snapshotOf(fleet, task!)).includes('.late'));
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
  // The second one still has the task.
  const [before, after] = await fleet.board.list('attempt', { task: task! });
  expect((await fleet.board.get('task', task!))?.token).toBe(after!.token);
  expect(before!.token).toBeLessThan(after!.token);
});

// promise: cut-off-hands-in
it('a machine that was cut off, and lost its task, hands its work in when it is back', async () => {
  const quick = { ...policy, lease: '1s', lease_renewal: '300ms' };
  const agent = `[ -e "$COPSE_TASK_ID.committed" ] && while :; do sleep 1; done${AGENT}`;
  await using fleet = await Fleet.open(area, 0, { agent, policy: quick });
  await using way = await Proxy.to(fleet.url);
  const first = fleet.join('machine 1', way.through(fleet.url));
  const second = fleet.join('machine 2');
  const task = (await fleet.add('one'))[0]!;
  first.start();
  try {
    await fleet.until(async () => (await snapshotOf(fleet, task)).includes('.committed'));
    await way.apply({ kind: 'refuse' });
    fleet.tell();
    await fleet.until(() => fleet.said().includes(`wrote ${task} late`));
    second.start();
    await fleet.until(async () => (await fleet.board.list('attempt', { task })).length === 2);
    // Until its runner stopped itself, and could not tell the board of its last snapshot.
    const [runner] = (await fleet.board.list('attempt', { task })).flatMap((one) => one.process ?? []);
    await fleet.until(() => !isRunning(runner!.pid));
    expect(await snapshotOf(fleet, task)).not.toContain('.late');
    await way.heal();
    await fleet.until(async () => (await snapshotOf(fleet, task)).includes('.late'));
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
});

/** The files of the first attempt's last snapshot, as the remote has them. */
async function snapshotOf(fleet: Fleet, task: TaskId): Promise<string> {
  const [attempt] = await fleet.board.list('attempt', { task });
  if (attempt?.lastSnapshot === undefined) return '';
  const tip = fleet.refs().get(`refs/copse/work/${task}/${attempt.token}`);
  return tip === attempt.lastSnapshot.commit ? git(fleet.remote, 'ls-tree', '--name-only', tip) : '';
}
