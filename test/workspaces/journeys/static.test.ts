/** `workspace.strategy: static`: agents work in the main checkout, one at a time, beside the files of a person. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { work } from '../../../packages/copse/src/workspaces/act/work.ts';
import { copse, copseProcess, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { must } from '../../support/records/tasks.ts';
import { until } from '../../support/records/turns.ts';
import { Project } from '../../support/workspaces/workspaces.ts';

const area = newArea();
afterAll(() => endAgents(area));

const never = { dirty: 0, nothing_committed: 0, branch: 0 };

/** A person edits a.txt and has a new file. */
function newStatic(policy: Readonly<Record<string, unknown>> = {}): Scene {
  const scene = newScene(area, { agents: { here: { workspace: { strategy: 'static' } } }, policy });
  writeFileSync(path.join(scene.folder, 'a.txt'), 'of a person\n');
  writeFileSync(path.join(scene.folder, 'new.txt'), 'of a person too\n');
  return scene;
}

const only = (file: string) => `git add ${file}; git commit --quiet --message="feat: ${file}" -- ${file}`;
const makes = (file: string) => `echo x > ${file}; ${only(file)}`;

/** What the person has uncommitted, as it was. */
function expectUntouched(scene: Scene, more: readonly string[] = []): void {
  const lines = scene.git('status', '--porcelain').split('\n');
  expect(lines.map((line) => line.trim()).toSorted()).toEqual(['?? new.txt', 'M a.txt', ...more].toSorted());
  expect(readFileSync(path.join(scene.folder, 'a.txt'), 'utf8')).toBe('of a person\n');
  expect(readFileSync(path.join(scene.folder, 'new.txt'), 'utf8')).toBe('of a person too\n');
}

// setting: workspace.strategy, agents.<name>.workspace.strategy
test('tasks work in the main checkout one after another, and the next one starts without a person', async () => {
  const scene = newStatic();
  const busy = 'test ! -e "$NOTES.busy" || note together; touch "$NOTES.busy"; note "$PWD"';
  await scene.add('one', `${busy}; sleep 0.3; ${makes('one.txt')}; rm "$NOTES.busy"`);
  await scene.add('two', `${busy}; sleep 0.3; ${makes('two.txt')}; rm "$NOTES.busy"`);
  await scene.up();
  expect(await scene.statuses()).toEqual({ one: 'done', two: 'done' });
  expect(readFileSync(scene.notes, 'utf8').trimEnd().split('\n')).toEqual([scene.folder, scene.folder]);
  expect(scene.subjects().slice(-2).toSorted()).toEqual(['feat: one.txt', 'feat: two.txt']);
  expect(scene.git('branch', '--format=%(refname:short)')).toBe('main');
  expectUntouched(scene);
});

describe('the gate looks at git there too', () => {
  test('what the agent leaves is named, and never the files of the person', async () => {
    const scene = newStatic({ handbacks: never });
    const dirty = await scene.add('dirty', 'echo x > left.txt');
    await scene.up();
    const why = await scene.why(dirty);
    expect(why).toContain('left.txt');
    expect(why).not.toMatch(/new\.txt|a\.txt/);
    const nothing = await scene.add('nothing', 'true');
    await scene.up();
    expect(await scene.why(nothing)).toContain('Nothing was committed');
    expect(await scene.statuses()).toEqual({ dirty: 'needs_attention', nothing: 'needs_attention' });
    expectUntouched(scene, ['?? left.txt']);
  });

  test('an agent that leaves the branch is told to go back', async () => {
    const scene = newStatic();
    const script = `if grep --quiet "Go there" "$COPSE_PROMPT_FILE"; then git switch --quiet main; git merge --quiet --ff-only other; else git switch --quiet --create other; ${makes('b.txt')}; fi`;
    const id = await scene.add('switches', script);
    await scene.up();
    expect(await scene.statuses()).toEqual({ switches: 'done' });
    expect(scene.subjects().at(-1)).toBe('feat: b.txt');
    expect(await scene.why(id)).not.toContain('needs you');
    expectUntouched(scene);
  });

  test('commits with the files of the person do not pass, and their content is in a snapshot', async () => {
    const scene = newStatic({ handbacks: never });
    const id = await scene.add('takes all', 'commit all b.txt');
    await scene.up();
    expect(await scene.statuses()).toEqual({ 'takes all': 'needs_attention' });
    const why = await scene.why(id);
    expect(why).toContain('had uncommitted changes of a person');
    const [ref = ''] = /refs\/copse\/rescue\/\S+?(?=\.?\s)/.exec(why) ?? [];
    expect(scene.git('show', `${ref}:new.txt`)).toBe('of a person too');
  });

  test('commits that were there before may not go', async () => {
    const scene = newStatic({ handbacks: never });
    const id = await scene.add('resets', `git reset --quiet --soft HEAD~1; ${makes('b.txt')}`);
    await scene.up();
    expect(await scene.statuses()).toEqual({ resets: 'needs_attention' });
    expect(await scene.why(id)).toContain('no longer has the commit');
  });
});

test('a crash gives the checkout back, and the retry counts what the first attempt left as its own', async () => {
  const scene = newStatic();
  const script = `if test -e half.txt; then ${only('half.txt')}; else echo half > half.txt; kill -9 $$; fi`;
  await scene.add('crashes', script);
  await scene.add('other', makes('other.txt'));
  await scene.up();
  expect(await scene.statuses()).toEqual({ crashes: 'done', other: 'done' });
  expect(scene.git('show', 'HEAD:half.txt')).toBe('half');
  expectUntouched(scene);
});

test('a task that is cancelled or waits for a person does not keep the checkout', async () => {
  const scene = newStatic({ handbacks: never });
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

test('files that a person changed while the task was paused are theirs, and are saved before it goes on', async () => {
  const scene = newStatic({ handbacks: never });
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
  const scene = newStatic();
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
  const scene = newStatic();
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
