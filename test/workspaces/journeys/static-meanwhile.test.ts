/** `workspace.strategy: static`: files and processes in the main checkout between two sessions. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { work } from '../../../packages/copse/src/workspaces/act/work.ts';
import { copseProcess, newArea, printed } from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
import { must } from '../../support/records/tasks.ts';
import { until } from '../../support/records/turns.ts';
import { expectUntouched, makes, never, newStatic, only } from '../../support/workspaces/static.ts';
import { Project } from '../../support/workspaces/workspaces.ts';

const area = newArea();
afterAll(() => endAgents(area));

test('files that a person changed while the task was paused are theirs, and are saved before it goes on', async () => {
  const scene = newStatic(area, { handbacks: never });
  writeFileSync(path.join(scene.folder, 'clean.txt'), 'as committed\n');
  scene.git('add', 'clean.txt');
  scene.git('commit', '--quiet', '--message=chore: clean', '--', 'clean.txt');
  const begins = 'echo half > half.txt; note started; while :; do sleep 0.1; done';
  const id = await scene.add('paused', `if test -e half.txt; then ${only('half.txt')}; else ${begins}; fi`);
  await printed(['orchestrate', '--once'], scene.at);
  await until(() => existsSync(scene.notes));
  await printed(['pause', id], scene.at);
  writeFileSync(path.join(scene.folder, 'late.txt'), 'added meanwhile\n');
  writeFileSync(path.join(scene.folder, 'clean.txt'), 'edited meanwhile\n');
  await printed(['resume', id], scene.at);
  await scene.up();
  expect(await scene.statuses()).toEqual({ paused: 'done' });
  expect(scene.git('show', 'HEAD:half.txt')).toBe('half');
  expectUntouched(scene, ['?? late.txt', 'M clean.txt']);
  const refs = scene.git('for-each-ref', '--format=%(refname)', 'refs/copse/rescue').split('\n');
  const saved = refs.map((ref) => scene.git('ls-tree', '--name-only', ref).split('\n'));
  expect(saved.some((names) => names.includes('late.txt'))).toBe(true);
});

test('the next agent starts when the processes of a cancelled one are gone', async () => {
  const scene = newStatic(area);
  const ignores = 'echo $$ > "$NOTES.pid"; trap "" TERM; note started; while :; do sleep 0.1; done';
  const id = await scene.add('ignores', ignores);
  await printed(['orchestrate', '--once'], scene.at);
  await until(() => existsSync(scene.notes));
  const next = `if kill -0 "$(cat "$NOTES.pid")"; then note together; fi; ${makes('next.txt')}`;
  const two = await scene.add('next', next);
  const cancelling = copseProcess(['cancel', id], scene.at);
  await until(async () => (await scene.statuses())['ignores'] === 'cancelled');
  expect(await scene.why(two)).toContain(`${id} works in the main checkout`);
  await scene.up();
  expect((await cancelling).code).toBe(0);
  expect(await scene.statuses()).toEqual({ ignores: 'cancelled', next: 'done' });
  expect(readFileSync(scene.notes, 'utf8')).toBe('started\n');
  expectUntouched(scene);
});

test('a checkout whose release was interrupted is looked at again, but not while the same person works there', async () => {
  const scene = newStatic(area);
  await using project = await Project.open(scene.folder, { strategy: 'static' });
  const id = await project.addTask();
  await project.prepare(id);
  writeFileSync(path.join(scene.folder, 'late.txt'), 'added meanwhile\n');
  const { workspace, reused } = await project.prepare(id);
  expect({ reused, paths: workspace.checkout?.paths }).toEqual({
    reused: false,
    paths: ['a.txt', 'late.txt', 'new.txt'],
  });
  expect(scene.git('show', `${workspace.checkout?.rescue}:late.txt`)).toBe('added meanwhile');
  must(await work(project.context, id, undefined));
  const byHand = (await project.prepare(id)).workspace;
  writeFileSync(path.join(scene.folder, 'own.txt'), 'of the work\n');
  expect(await project.prepare(id)).toMatchObject({ reused: true, workspace: { id: byHand.id } });
});
