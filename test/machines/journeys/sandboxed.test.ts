/** An agent in a sandbox writes its objects into a store of its own; its snapshots have them all the same. */

import { expect, it } from 'vitest';

import { git } from '../../support/cli.ts';
import { newDiskArea, noSandbox, pathWithSandbox } from '../../support/agents/sandbox-matrix.ts';
import { Fleet } from '../support/nodes.ts';

const area = newDiskArea();

const AGENT = `
echo committed >committed.txt
commit committed.txt
echo staged >staged.txt
git add staged.txt
echo uncommitted >uncommitted.txt
while :; do sleep 1; done`;

it.runIf(noSandbox === null)('a sandboxed agent’s commits and files are on the remote', async () => {
  const env = { PATH: pathWithSandbox(area) };
  await using fleet = await Fleet.open(area, 1, { agent: AGENT, worker: { sandbox: 'runtime' }, env });
  const [task] = await fleet.add('one');
  fleet.machine(1).start();
  const wanted = ['committed.txt', 'staged.txt', 'uncommitted.txt'];
  try {
    await fleet.until(async () => {
      const [attempt] = await fleet.board.list('attempt', { task: task! });
      const commit = attempt?.lastSnapshot?.commit;
      if (commit === undefined) return false;
      const files = git(fleet.remote, 'ls-tree', '--name-only', commit).split('\n');
      return wanted.every((name) => files.includes(name));
    });
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
  const [attempt] = await fleet.board.list('attempt', { task: task! });
  const { commit = '', head = '' } = attempt?.lastSnapshot ?? {};
  expect(git(fleet.remote, 'log', '-1', '--format=%s', head)).toBe('feat: committed.txt');
  expect(git(fleet.remote, 'fsck', '--connectivity-only', commit)).not.toContain('missing');
});
