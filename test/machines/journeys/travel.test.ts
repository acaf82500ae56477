/** Work travels: two clones of one remote on one PostgreSQL, with real orchestrators. */

import { existsSync } from 'node:fs';

import { expect, it } from 'vitest';

import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../support/cli.ts';
import { Fleet } from '../support/nodes.ts';

const area = newArea();

/** `lost` tasks commit, write more and wait; a second agent that finds the commit says what else it found, and finishes. */
const AGENT = `
name=$COPSE_TASK_ID
case \${COPSE_WORKTREE_BRANCH#*/} in
  lost*)
    if [ -e "$name.committed" ]; then
      say status "$(git status --porcelain | tr '\\n' ',')"
      say context "$(grep -c 'This is its last snapshot, of .* before that attempt ended. Changes after that are not here.' AGENT_CONTEXT.md)"
      git add --all -- '*.committed' '*.uncommitted' shared.txt && git commit --quiet --message 'feat: the rest' || exit 1
      finish
    else
      echo committed >"$name.committed"
      commit "$name.committed"
      echo "as $name has it" >>shared.txt
      echo uncommitted >"$name.uncommitted"
      say ready "$(git rev-parse HEAD)"
      until_told
    fi
    ;;
  *)
    # The file alone may be of a snapshot that was taken before the commit.
    if ! git cat-file -e "HEAD:$name.txt" 2>/dev/null; then
      echo text >"$name.txt"
      commit "$name.txt"
    fi
    until_told
    finish
    ;;
esac`;

// promise: finished-work-shared
// setting: board
it('two machines land what either of them finished, and leave nothing behind', async () => {
  await using fleet = await Fleet.open(area, 2, { agent: AGENT, policy: { max_agents: 2 } });
  const tasks = await fleet.add('one', 'two', 'three', 'four');
  const [first, second] = [fleet.machine(1), fleet.machine(2)];
  first.start();
  second.start();
  try {
    // Both have work before any of it is finished.
    await fleet.until(() => fleet.said().filter((line) => line.startsWith('began ')).length === 4);
    fleet.tell();
    await fleet.untilDone(tasks);
    await fleet.until(() => [...first.leftBehind(), ...second.leftBehind()].length === 0);
    await fleet.until(() => fleet.refs().size === 1);
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
  const files = git(fleet.remote, 'ls-tree', '-r', '--name-only', 'main').split('\n');
  expect(files).toEqual(expect.arrayContaining(tasks.map((task) => `${task}.txt`)));
  expect([...fleet.refs().keys()]).toEqual(['refs/heads/main']);
  expect(
    new Set(fleet.said().map((line) => line.split(' ').slice(2).join(' ').split('/.worktrees')[0])).size,
  ).toBe(2);
});

// promise: work-travels
// promise: says-what-it-knows
it('a machine is lost with its clone: the other one finishes everything, from its last snapshots', async () => {
  // The delays of crashes do not apply: its task is at fault for nothing.
  const policy = { max_agents: 2, first_backoff: '1h', max_backoff: '1h' };
  await using fleet = await Fleet.open(area, 2, { agent: AGENT, policy });
  const [task = brand<TaskId>(''), ...others] = await fleet.add('lost', 'one', 'two', 'three');
  for (const machine of fleet.machines) machine.start();
  const lost = async () => {
    const ready = () => fleet.said().find((line) => line.startsWith(`ready ${task}`));
    await fleet.until(() => ready() !== undefined);
    const began = fleet.said().find((line) => line.startsWith(`began ${task}`)) ?? '';
    return fleet.machines.find(({ folder }) => began.includes(`${folder}/`))!;
  };
  let other = fleet.machine(1);
  try {
    const machine = await lost();
    other = fleet.machines.find((one) => one !== machine)!;
    await fleet.until(async () => {
      const [attempt] = await fleet.board.list('attempt', { task });
      const commit = attempt?.lastSnapshot?.commit;
      return (
        commit !== undefined && git(fleet.remote, 'ls-tree', '--name-only', commit).includes('.uncommitted')
      );
    });
    await machine.lose();
    expect(existsSync(machine.folder)).toBe(false);
    fleet.tell();
    await fleet.untilDone([task, ...others]);
    await fleet.until(() => other.leftBehind().length === 0 && fleet.refs().size === 1);
  } catch (error) {
    throw new Error(fleet.story(), { cause: error });
  }
  const files = git(fleet.remote, 'ls-tree', '-r', '--name-only', 'main').split('\n');
  const made = [`${task}.committed`, `${task}.uncommitted`, ...others.map((one) => `${one}.txt`)];
  expect(files).toEqual(expect.arrayContaining(made));
  expect(git(fleet.remote, 'show', 'main:shared.txt')).toContain(`as ${task} has it`);
  // They came back as they were: uncommitted.
  expect(fleet.said()).toContain(`status ${task}  M shared.txt,?? ${task}.uncommitted,`);
  // Both say what is known, and nothing else.
  expect(fleet.said()).toContain(`context ${task} 1`);
  const ledger = (await fleet.board.list('ledger', { task })).map(({ text }) => text).join('\n');
  expect(ledger).toMatch(/is on machine .*n-\w+\)?\. Its last snapshot on the remote is \d+ \w+ old\./);
  expect(ledger).not.toMatch(/committed/);
});
