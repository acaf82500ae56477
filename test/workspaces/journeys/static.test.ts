/** `workspace.strategy: static`: agents work in the main checkout, one at a time, beside the files of a person. */

import { readFileSync } from 'node:fs';

import { afterAll, describe, expect, test } from 'vitest';

import { newArea } from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
import { expectUntouched, makes, never, newStatic } from '../../support/workspaces/static.ts';

const area = newArea();
afterAll(() => endAgents(area));

// setting: workspace.strategy, agents.<name>.workspace.strategy
test('tasks work in the main checkout one after another, and the next one starts without a person', async () => {
  const scene = newStatic(area);
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
    const scene = newStatic(area, { handbacks: never });
    const dirty = await scene.add('dirty', 'echo x > left.txt', '--priority', 'p5');
    const nothing = await scene.add('nothing', 'true');
    await scene.up();
    const why = await scene.why(dirty);
    expect(why).toContain('left.txt');
    expect(why).not.toMatch(/new\.txt|a\.txt/);
    expect(await scene.why(nothing)).toContain('The agent made no commits');
    expect(await scene.statuses()).toEqual({ dirty: 'needs_attention', nothing: 'needs_attention' });
    expectUntouched(scene, ['?? left.txt']);
  });

  test('commits with the files of the person do not pass, and their content is in a snapshot', async () => {
    const scene = newStatic(area, { handbacks: never });
    const id = await scene.add('takes all', 'commit all b.txt');
    await scene.up();
    expect(await scene.statuses()).toEqual({ 'takes all': 'needs_attention' });
    const why = await scene.why(id);
    expect(why).toContain('had uncommitted changes of a person');
    const [ref = ''] = /refs\/copse\/rescue\/\S+?(?=\.?\s)/.exec(why) ?? [];
    expect(scene.git('show', `${ref}:new.txt`)).toBe('of a person too');
  });
});
