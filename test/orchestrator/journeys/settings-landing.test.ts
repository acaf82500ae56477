/** Settings of the queue in copse.yml that no other journey shows. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { newArea } from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

// setting: landing.target, landing.checks.<name>.env, landing.checks.<name>.working_directory
// setting: landing.checks.<name>.timeout, policy.handbacks.checks
test('finished work lands on the target of copse.yml, if its checks pass in their folder, with their variables and in time', async () => {
  const fits = {
    command: 'test "$WORD" = yes && test -e code.txt',
    env: { WORD: 'yes' },
    working_directory: 'src',
  };
  const slow = { command: 'test ! -e slow.txt || sleep 600', timeout: '500ms' };
  const scene = newScene(area, {
    sections: { landing: { target: 'develop', checks: { fits, slow } } },
    policy: { handbacks: { checks: 0 } },
  });
  scene.git('switch', '--quiet', '--create', 'develop');
  mkdirSync(path.join(scene.folder, 'src'));
  writeFileSync(path.join(scene.folder, 'src', 'code.txt'), '1\n');
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message=chore: code');
  scene.git('switch', '--quiet', 'main');
  const lands = await scene.add('lands', 'note lands; commit lands lands.txt');
  await scene.add('is slow', 'note slow; commit slow slow.txt', '--depends', lands);
  await scene.up();
  expect(await scene.statuses()).toEqual({ lands: 'done', 'is slow': 'needs_attention' });
  expect(scene.subjects('develop').at(-1)).toBe('feat: lands');
  expect(scene.subjects('main')).not.toContain('feat: lands');
  expect(readFileSync(scene.notes, 'utf8')).toBe('lands\nslow\n');
});
