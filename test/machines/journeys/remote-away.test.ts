/** The remote is away: work goes on, finished work waits for it and says so, and lands soon after it is back. */

import { expect, it } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import { Fleet } from '../support/nodes.ts';

const area = newArea();

const AGENT = `
until_told
echo text >"$COPSE_TASK_ID.txt"
commit "$COPSE_TASK_ID.txt"
finish`;

// promise: finished-work-shared
it('finished work waits for the remote, can be cancelled, and lands within a minute after it is back', async () => {
  await using fleet = await Fleet.open(area, 2, { agent: AGENT });
  const [first, second] = [fleet.machine(1), fleet.machine(2)];
  const [task, cancelled] = await fleet.add('one', 'two');
  first.start();
  try {
    await fleet.until(() => fleet.said().filter((line) => line.startsWith('began ')).length === 2);
    const remote = fleet.away();
    fleet.tell();
    for (const one of [task!, cancelled!])
      await fleet.until(async () => {
        const [attempt] = await fleet.board.list('attempt', { task: one });
        return attempt?.travelProblem?.startsWith('It is finished and waits for the remote: ') === true;
      });
    expect(await fleet.status(task!)).toBe('in_progress');
    for (const command of [['list'], ['why', task!], ['show', task!]])
      expect((await second.copse(...command)).stdout).toContain('waits for the remote');
    expect(await second.copse('cancel', cancelled!)).toMatchObject({ code: 0 });

    // The other machine leads: what it needs comes over the remote.
    second.start();
    remote.back();
    const back = performance.now();
    await fleet.untilDone([task!]);
    expect(performance.now() - back).toBeLessThan(60_000);
    await fleet.until(() => first.leftBehind().every((name) => name.includes(cancelled!)));
    await fleet.until(() => fleet.refs().size === 1);
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
  expect(git(fleet.remote, 'ls-tree', '--name-only', 'main')).toContain(`${task}.txt`);
  expect(await fleet.status(cancelled!)).toBe('cancelled');
});

it('queued work whose leader loses the remote lands within a minute after it is back', async () => {
  await using fleet = await Fleet.open(area, 1, { agent: AGENT });
  const [machine] = [fleet.machine(1)];
  const [task] = await fleet.add('one');
  expect(await machine.copse('queue', 'pause')).toMatchObject({ code: 0 });
  machine.start();
  fleet.tell();
  try {
    await fleet.until(async () => (await fleet.status(task!)) === 'landing');
    const remote = fleet.away();
    expect(await machine.copse('queue', 'resume')).toMatchObject({ code: 0 });
    await fleet.until(async () => {
      const [landing] = await fleet.board.openLandings();
      return landing?.waiting?.kind === 'remote_unreachable' || landing?.waiting?.kind === 'push_failed';
    });
    remote.back();
    const back = performance.now();
    await fleet.untilDone([task!]);
    expect(performance.now() - back).toBeLessThan(60_000);
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
});
