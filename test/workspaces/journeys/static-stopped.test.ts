/** `workspace.strategy: static`: agents that leave the branch, take commits away, crash or stop in the main checkout. */

import { existsSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { copse, newArea, printed } from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
import { expectUntouched, makes, never, newStatic, only } from '../../support/workspaces/static.ts';

const area = newArea();
afterAll(() => endAgents(area));

test('an agent that leaves the branch is told to go back', async () => {
  const scene = newStatic(area);
  const script = `if grep --quiet "Go there" "$COPSE_PROMPT_FILE"; then git switch --quiet main; git merge --quiet --ff-only other; else git switch --quiet --create other; ${makes('b.txt')}; fi`;
  const id = await scene.add('switches', script);
  await scene.up();
  expect(await scene.statuses()).toEqual({ switches: 'done' });
  expect(scene.subjects().at(-1)).toBe('feat: b.txt');
  expect(await scene.why(id)).not.toContain('needs you');
  expectUntouched(scene);
});

test('commits that were there before may not go', async () => {
  const scene = newStatic(area, { handbacks: never });
  const id = await scene.add('resets', `git reset --quiet --soft HEAD~1; ${makes('b.txt')}`);
  await scene.up();
  expect(await scene.statuses()).toEqual({ resets: 'needs_attention' });
  expect(await scene.why(id)).toContain('no longer has the commit');
});

test('a crash gives the checkout back, and the retry counts what the first attempt left as its own', async () => {
  const scene = newStatic(area);
  const script = `if test -e half.txt; then ${only('half.txt')}; else echo half > half.txt; kill -9 $$; fi`;
  await scene.add('crashes', script);
  await scene.add('other', makes('other.txt'));
  await scene.up();
  expect(await scene.statuses()).toEqual({ crashes: 'done', other: 'done' });
  expect(scene.git('show', 'HEAD:half.txt')).toBe('half');
  expectUntouched(scene);
});

test('a task that is cancelled or waits for a person does not keep the checkout', async () => {
  const scene = newStatic(area, { handbacks: never });
  const stuck = await scene.add('stuck', 'echo x > left.txt; copse stuck --reason "Which one?"');
  await scene.up();
  await scene.add('next', makes('next.txt'));
  await scene.up();
  expect(await scene.statuses()).toEqual({ stuck: 'stuck', next: 'done' });
  await printed(['cancel', stuck], scene.at);
  const { code } = await copse(['cleanup', stuck, '--yes'], scene.at);
  expect(code).not.toBe(1);
  expect(existsSync(path.join(scene.folder, 'left.txt'))).toBe(true);
  expectUntouched(scene, ['?? left.txt']);
});
