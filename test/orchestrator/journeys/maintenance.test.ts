/** What an orchestrator removes without being asked, by `maintenance` and `cleanup_on_failure`; and the same by `copse sweep`. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

const worktree = ({ folder }: Scene, task: string) => path.join(folder, '.worktrees', task);
const rescued = (scene: Scene, task: string) =>
  scene.git('for-each-ref', '--format=%(refname)', `refs/copse/rescue/${task}/`);

async function cancelled(scene: Scene): Promise<string> {
  const task = await scene.add('over', 'true');
  await printed(['work', task], scene.at);
  writeFileSync(path.join(worktree(scene, task), 'mine.txt'), 'only here\n');
  await printed(['cancel', task], scene.at);
  return task;
}

// setting: maintenance.worktree_cleanup.max_worktree_age
test('an orchestrator sweeps at its start, says what it removed, and remembers when', async () => {
  const scene = newScene(area, {
    sections: { maintenance: { worktree_cleanup: { max_worktree_age: '0' } } },
  });
  const task = await cancelled(scene);
  const output = await printed(['orchestrate', '--once'], scene.at);
  expect(existsSync(worktree(scene, task))).toBe(false);
  expect(output).toContain(`Swept the worktree`);
  expect(output).toContain(rescued(scene, task));
  // Without a remote there is nothing to remove there.
  expect(output).not.toContain('remote');
  const sweeps = JSON.parse(readFileSync(path.join(scene.folder, '.copse', 'sweeps.json'), 'utf8')) as object;
  expect(Object.keys(sweeps)).toEqual(['all', 'sessions']);
});

// setting: maintenance.worktree_cleanup.enabled
test('a cleanup that is switched off leaves everything, until a person sweeps by the same plan', async () => {
  const cleanup = { enabled: false, max_worktree_age: '0' };
  const scene = newScene(area, { sections: { maintenance: { worktree_cleanup: cleanup } } });
  const task = await cancelled(scene);
  await printed(['orchestrate', '--once'], scene.at);
  expect(existsSync(worktree(scene, task))).toBe(true);
  const plan = await printed(['sweep', '--dry-run'], scene.at);
  expect(plan).toContain(`.worktrees/${task}`);
  expect(plan).toContain(`kept under refs/copse/rescue/${task}/…`);
  expect(plan).toMatch(/1 worktree would go \(.+\)\. To remove it: copse sweep/);
  expect(existsSync(worktree(scene, task))).toBe(true);
  const done = await printed(['sweep'], scene.at);
  expect(done).toContain(rescued(scene, task));
  expect(done).toMatch(/Removed 1 worktree/);
  const again = await answer<{ items: readonly { goes: boolean; why: string }[] }>(['sweep'], scene.at);
  expect(again.items.filter(({ goes }) => goes)).toEqual([]);
  expect(await printed(['sweep', '--dry-run', '--verbose'], scene.at)).toContain('stays: Removed');
});

// setting: maintenance.worktree_cleanup.cleanup_on_startup
test('without cleanup_on_startup, a start sweeps nothing', async () => {
  const cleanup = { cleanup_on_startup: false, max_worktree_age: '0' };
  const scene = newScene(area, { sections: { maintenance: { worktree_cleanup: cleanup } } });
  const task = await cancelled(scene);
  await printed(['orchestrate', '--once'], scene.at);
  await printed(['orchestrate', '--once'], scene.at);
  expect(existsSync(worktree(scene, task))).toBe(true);
});

// setting: workspace.cleanup_on_failure, agents.<name>.workspace.cleanup_on_failure
test('cleanup_on_failure removes the worktree of a failed task, rescued first; its branch stays, and so do the worktrees of other agents', async () => {
  const agents = { tidy: {}, plain: { workspace: { cleanup_on_failure: false } } };
  const sections = { workspace: { cleanup_on_failure: true } };
  const scene = newScene(area, { agents, sections, policy: { max_retries: 1 } });
  const script = 'commit part part.txt; echo "only here" > mine.txt; exit 1';
  const gone = await scene.add('gone', script, '--agent', 'tidy');
  const kept = await scene.add('kept', script, '--agent', 'plain');
  for (let runs = 0; runs < 5 && (runs === 0 || existsSync(worktree(scene, gone))); runs += 1)
    await copse(['orchestrate', '--until-idle'], scene.at);
  expect(await scene.statuses()).toEqual({ gone: 'failed', kept: 'failed' });
  expect([existsSync(worktree(scene, gone)), existsSync(worktree(scene, kept))]).toEqual([false, true]);
  expect(scene.git('log', '-1', '--format=%s', `${gone}/gone`)).toBe('feat: part');
  const [ref = ''] = rescued(scene, gone).split('\n');
  expect(scene.git('grep', 'only here', ref)).toContain('mine.txt');
});
