/** Tasks that go on after they have landed: from the target, whatever has become of the worktree that landed. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, expect, test } from 'vitest';

import { finished, newArea, printed, startCopse } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

const AGAIN = 'note "at $(git rev-parse HEAD)"; commit again a.txt; copse finish';

test('a task that is resumed while its worktree is being removed starts at the target, not at the landed branch', async () => {
  const scene = newScene(area, {
    // What lands is another commit than what was submitted.
    sections: { landing: { method: 'squash' }, workspace: { teardown: [TEARDOWN] } },
  });
  const id = await scene.add('goes on', 'commit first a.txt; copse finish');
  const orchestrator = startCopse(['orchestrate', '--until-idle'], scene.at);
  const output = finished(orchestrator);
  await until(() => existsSync(path.join(scene.folder, 'tearing')));
  const landed = scene.git('rev-parse', 'main');
  scene.script(id, AGAIN);
  await printed(['resume', id], scene.at);
  expect((await scene.tasks()).get(id)?.status).toBe('in_progress');
  writeFileSync(path.join(scene.folder, 'go'), '');
  expect((await output).code).toBe(0);

  expect((await scene.tasks()).get(id)?.status).toBe('done');
  expect(noted(scene)).toEqual([`at ${landed}`]);
  expect(scene.subjects().slice(-2)).toEqual(['feat: first', 'feat: again']);
  expect(scene.git('show', 'main:a.txt')).toBe('again');
  expect((await scene.events()).filter(({ type }) => type === 'task.handed_back')).toEqual([]);
  expect(scene.git('branch', '--format=%(refname:short)')).toBe('main');
  // What was submitted is still there, under its own id.
  const kept = scene.git('log', '--no-walk', '--format=%s', '--glob=refs/copse/keep').split('\n');
  expect(kept).toContain('feat: first');
});

test('a resumed task whose worktree has unlanded work continues there', async () => {
  const scene = newScene(area, { sections: { workspace: { teardown: [TEARDOWN] } } });
  const id = await scene.add('goes on', 'commit first a.txt; copse finish');
  const output = finished(startCopse(['orchestrate', '--until-idle'], scene.at));
  await until(() => existsSync(path.join(scene.folder, 'tearing')));
  // By a person who was quicker than the removal.
  writeFileSync(path.join(scene.folder, '.worktrees', id, 'mine.txt'), 'mine');
  scene.script(id, 'note "$(cat mine.txt)"; commit again a.txt; copse finish');
  await printed(['resume', id], scene.at);
  writeFileSync(path.join(scene.folder, 'go'), '');
  expect((await output).code).toBe(0);
  expect((await scene.tasks()).get(id)?.status).toBe('done');
  expect(noted(scene)).toEqual(['mine']);
  expect(scene.git('show', 'main:mine.txt')).toBe('mine');
});

const TEARDOWN = 'touch "$COPSE_REPO_ROOT/tearing"; until test -e "$COPSE_REPO_ROOT/go"; do sleep 0.05; done';

function noted(scene: Scene): readonly string[] {
  return readFileSync(scene.notes, 'utf8').trimEnd().split('\n');
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await sleep(20);
}
