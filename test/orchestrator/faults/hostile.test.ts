/**
 * Agents that leave what keeps a program waiting, or makes it compute without end, beside honest ones: the honest tasks land,
 * and each hostile one waits for a person, with its reason, without being tried again.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';

import { newArea } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** 10^9 paths in nine trees of ten entries each. */
const BOMB = `
  ten() { for at in 0 1 2 3 4 5 6 7 8 9; do printf "$1 %s\\t%s\\n" "$2" "$at"; done | git mktree; }
  tree=$(ten '100644 blob' "$(echo x | git hash-object -w --stdin)")
  for level in 1 2 3 4 5 6 7 8; do tree=$(ten '040000 tree' "$tree"); done
  git update-ref HEAD "$(git commit-tree "$tree" -p HEAD -m 'feat: bomb')"`;

const hostile: Readonly<Record<string, readonly [script: string, reason: RegExp]>> = {
  'a pipe as .gitignore': ['commit a a.txt; rm -f .gitignore; mkfifo .gitignore', /named pipe.*\.gitignore/],
  'a pipe as .gitignore of a folder': [
    'commit b b.txt; mkdir sub; mkfifo sub/.gitignore',
    /named pipe.*sub\/\.gitignore/,
  ],
  'a branch of 10^9 paths': [BOMB, /changes more than 250000 paths/],
  'a sparse file of 300 GB': [
    'commit c c.txt; truncate -s 300G huge.bin; exit 1',
    /huge\.bin, have more than \d+ bytes/,
  ],
};

let scene: Scene;
let output: string;

beforeAll(async () => {
  scene = newScene(area, { policy: { max_agents: 6 } });
  for (const [title, [script]] of Object.entries(hostile)) await scene.add(title, script);
  for (const name of ['one', 'two']) await scene.add(name, `sleep 1; commit ${name} ${name}.txt`);
  output = await scene.up();
});

// promise: unreadable-work-stops-no-other
test('the honest tasks land', async () => {
  const { one, two } = await scene.statuses();
  expect({ one, two, output }).toMatchObject({ one: 'done', two: 'done' });
});

test.each(Object.entries(hostile))('%s is for a person to look at', async (title, [, reason]) => {
  const task = [...(await scene.tasks()).values()].find((one) => one.title === title);
  expect(task).toMatchObject({ status: 'needs_attention', retries: 0 });
  expect(task?.reason).toMatch(reason);
  expect(await scene.why(task?.id ?? '')).toContain('Copse cannot read its worktree or branch');
});
