/** Others push to the target all the time: landings make progress, and every foreign commit stays. */

import { spawn } from 'node:child_process';

import { expect, it, vi } from 'vitest';

import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { commitOn } from '../../support/git/plain-commits.ts';
import { isLong } from '../../support/long.ts';
import { until } from '../../support/queue/queue-scene.ts';
import { type Clone, Clones } from '../support/clones.ts';

vi.setConfig({ testTimeout: 240_000 });
const area = newArea();

function one(clones: Clones): Clone {
  const [machine] = clones.machines;
  if (machine === undefined) throw new Error('There is no clone');
  return machine;
}

function pushForeign(clones: Clones, name: string): string {
  const tree = git(clones.bare, 'rev-parse', 'main^{tree}');
  const commit = git(clones.bare, 'commit-tree', '-p', 'main', '-m', name, tree);
  git(clones.bare, 'update-ref', 'refs/heads/main', commit);
  return commit;
}

/** Another push comes between the fetch and the push, so many times in a row. */
function outrunBy(clones: Clones, times: number, tries: string[]) {
  return (context: RunContext): RunContext => ({
    ...context,
    merging: {
      ...context.merging,
      push(...given) {
        tries.push(given[1]);
        if (tries.length <= times) pushForeign(clones, `foreign ${tries.length}`);
        return context.merging.push(...given);
      },
    },
  });
}

// promise: foreign-moves-kept
it('a landing that others outrun is merged again and pushed at once, and their commits stay', async () => {
  const clones = new Clones(area, 'outrun', { count: 1, policy: { pushAgainMs: 3_600_000 } });
  await using _ = clones;
  const task = await clones.queue('work');
  const tries: string[] = [];
  const led = await one(clones).lead({ changed: outrunBy(clones, 3, tries) });
  expect(led).toMatchObject({ landed: [task], blamed: [] });
  expect(tries).toHaveLength(4);
  expect(git(clones.bare, 'log', '--format=%s', 'main').split('\n')).toEqual([
    'work',
    'foreign 3',
    'foreign 2',
    'foreign 1',
    'first',
  ]);
});

// promise: checked-tree-lands
it('with checks, the tree that others changed is checked again before it lands', async () => {
  const checks = { test: { command: 'git rev-parse HEAD^{tree}', timeout: '60s' } };
  const clones = new Clones(area, 'outrun with checks', { landing: { checks } });
  await using _ = clones;
  const [, foreign] = clones.machines;
  if (foreign === undefined) throw new Error('There are not two clones');
  const task = await clones.queue('work');
  const tries: string[] = [];
  const changed = (context: RunContext): RunContext => {
    const outrun = outrunBy(clones, 0, tries)(context);
    return {
      ...outrun,
      merging: {
        ...outrun.merging,
        push(...given) {
          if (tries.length === 0) {
            commitOn(foreign.folder, 'main', { message: 'foreign', files: { 'foreign.txt': 'foreign' } });
            git(foreign.folder, 'push', '--quiet', 'origin', 'main');
          }
          return outrun.merging.push(...given);
        },
      },
    };
  };
  expect(await one(clones).lead({ changed })).toMatchObject({ landed: [task] });
  expect(tries).toHaveLength(2);
  const { board } = await one(clones).open();
  const green = (await board.list('check')).filter(({ end }) => end?.verdict === 'green');
  expect(green.map(({ tree }) => tree)).toContain(git(clones.bare, 'rev-parse', 'main^{tree}'));
  expect(green.length).toBeGreaterThan(1);
});

it.runIf(isLong)('six tasks land while another process pushes one and a half times a second', async () => {
  const clones = new Clones(area, 'pusher', { count: 2, policy: { pushAgainMs: 3_600_000 } });
  await using _ = clones;
  const [machine, foreign] = clones.machines;
  if (machine === undefined || foreign === undefined) throw new Error('There are not two clones');
  const names = Array.from({ length: 6 }, (_none, at) => `work-${at}`);
  const script = `
    while :; do
      git fetch --quiet origin main && git checkout --quiet --detach FETCH_HEAD &&
      git commit --quiet --allow-empty -m foreign && git push --quiet origin HEAD:main
      sleep 0.67
    done`;
  const pusher = spawn('sh', ['-c', script], { cwd: foreign.folder, env: plainEnv, stdio: 'ignore' });
  const foreignPushes = () =>
    git(clones.bare, 'log', '--format=%s', 'main')
      .split('\n')
      .filter((one) => one === 'foreign').length;
  try {
    await until('the pusher pushes', () => foreignPushes() >= 2);
    const landed: string[] = [];
    const tasks: string[] = [];
    for (const name of names) {
      tasks.push(await clones.queue(name));
      const before = foreignPushes();
      await until(`${name} lands`, async () => {
        landed.push(...((await machine.lead())?.landed ?? []));
        return landed.length === tasks.length;
      });
      await until('the pusher pushes on', () => foreignPushes() > before);
    }
    expect(landed).toEqual(tasks);
    expect(clones.landed).toEqual(tasks);
  } finally {
    pusher.kill('SIGKILL');
  }
});
