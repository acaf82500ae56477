/** What people hear about finished work: the agent's words, the warnings, and what became of the branches it made. */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** Git notes whole seconds, and the worktree was made in this one. */
const NEXT_SECOND = 'sleep 1.1';

const scripts: Readonly<Record<string, readonly [script: string, ...options: string[]]>> = {
  'tells what it did': [
    'echo t > t.txt; git add --all; git commit --quiet --message="did it"; copse finish --summary "All of it"',
  ],
  'renames its branch': ['git branch --move another-name; commit renamed renamed.txt'],
  'switches to a branch': [
    `${NEXT_SECOND}; git switch --quiet --create feature/x; commit switched switched.txt`,
  ],
  'merges a side branch': [
    `${NEXT_SECOND}; git switch --quiet --create side; commit side side.txt; git switch --quiet -; git merge --quiet --no-edit side`,
  ],
  'leaves a side branch': [
    `${NEXT_SECOND}; git switch --quiet --create left; commit left left.txt; git switch --quiet -; commit main-part part.txt`,
  ],
  'looks at the branch of a person': [
    'git switch --quiet persons; git switch --quiet -; commit looked looked.txt',
  ],
  'submits the branch of a person': ['git switch --quiet persons'],
  'has a hook that writes': ['commit hooked hooked.txt', '--requires', 'hooked'],
};

let scene: Scene;
let output: string;
const ids: Record<string, string> = {};
const id = (title: string): string => ids[title] ?? expect.fail(`There is no task ${title}`);

beforeAll(async () => {
  scene = newScene(area, {
    agents: {
      plain: {},
      hooked: { capabilities: ['hooked'], hooks: { after_run: 'echo report > report.txt' } },
    },
  });
  scene.git('switch', '--quiet', '--create', 'persons');
  scene.git('commit', '--quiet', '--allow-empty', '--message=feat: not finished');
  scene.git('switch', '--quiet', 'main');
  for (const [title, [script, ...options]] of Object.entries(scripts))
    ids[title] = await scene.add(title, script, ...options);
  output = await scene.up();
});

describe('finished work', () => {
  test('is told with the words of its agent and with the warnings, by why, show and events', async () => {
    const task = id('tells what it did');
    const why = await scene.why(task);
    expect(why).toContain('Summary: All of it');
    expect(why).toContain('Warning: These commit messages break the convention');
    expect(await answer(['show', task], scene.at)).toMatchObject({
      summary: 'All of it',
      warnings: [expect.stringContaining('did it')],
    });
    expect(await printed(['show', task], scene.at)).toMatch(/summary +All of it\n/);
    expect(output).toMatch(
      new RegExp(`warning +${task} These commit messages break the convention .*: [0-9a-f]{8} did it`),
    );
  });

  test('has its commit and the patch of its branch as results', async () => {
    const { artifacts } = await answer<{ artifacts: { kind: string; address: string }[] }>(
      ['show', id('tells what it did')],
      scene.at,
    );
    const [commit, patch] = ['commit', 'patch'].map((kind) => artifacts.find((one) => one.kind === kind));
    expect(scene.git('log', '-1', '--format=%s', commit?.address ?? '')).toBe('did it');
    const file = path.resolve(scene.folder, '.copse', patch?.address ?? '');
    expect(readFileSync(file, 'utf8')).toContain('+++ b/t.txt\n@@ -0,0 +1 @@\n+t\n');
  });

  test('lands from a branch that its agent renamed or switched to, and says so', async () => {
    expect(await scene.statuses()).toMatchObject({
      'renames its branch': 'done',
      'switches to a branch': 'done',
      'merges a side branch': 'done',
      'leaves a side branch': 'done',
    });
    expect(await scene.why(id('switches to a branch'))).toContain('The worktree is on branch feature/x');
  });

  test('takes the branches along that were made in its worktree and landed', () => {
    const branches = scene.git('branch', '--list', '--format=%(refname:short)').split('\n');
    for (const gone of ['another-name', 'feature/x', 'side']) expect(branches).not.toContain(gone);
    for (const title of ['renames its branch', 'switches to a branch', 'merges a side branch'])
      expect(branches.filter((name) => name.startsWith(id(title)))).toEqual([]);
  });

  // promise: checkout-untouched
  test('leaves branches with commits that did not land, and those of people', async () => {
    const branches = scene.git('branch', '--list', '--format=%(refname:short)').split('\n');
    expect(branches).toEqual(expect.arrayContaining(['left', 'persons']));
    expect(await scene.why(id('leaves a side branch'))).toContain(
      'The branch left, made in its worktree, was kept: it has commits that did not land.',
    );
  });

  // promise: task-branch-from-board
  test('is not the work of a person whose branch an agent checked out', async () => {
    expect(await scene.statuses()).toMatchObject({ 'submits the branch of a person': 'needs_attention' });
    expect(scene.subjects()).not.toContain('feat: not finished');
    expect(await scene.why(id('submits the branch of a person'))).toContain(
      'HEAD of the worktree is on persons, not on ',
    );
  });

  test('loses its worktree although a hook wrote into it, and what the hook wrote is rescued', () => {
    const task = id('has a hook that writes');
    expect(existsSync(path.join(scene.folder, '.worktrees', task))).toBe(false);
    const [rescue] = scene
      .git('for-each-ref', '--format=%(refname)', `refs/copse/rescue/${task}/`)
      .split('\n');
    expect(scene.git('show', `${rescue}:report.txt`)).toBe('report');
  });
});

test('an agent that moves main itself is told so, and a person has to look', async () => {
  const other = newScene(area);
  const task = await other.add('goes round', 'commit round round.txt; git update-ref refs/heads/main HEAD');
  await other.up();
  expect(await other.statuses()).toEqual({ 'goes round': 'needs_attention' });
  const why = await other.why(task);
  expect(why).toContain(`main already has the commits of ${task}: it was moved to them directly`);
  expect(why).not.toContain('committed nothing');
  // The main checkout does not follow a move that git did not make there.
  other.git('reset', '--quiet', '--hard');
  await other.merge(task);
  expect(await other.statuses()).toEqual({ 'goes round': 'done' });
});

// setting: agents.<name>.workspace.push_on_success, agents.<name>.workspace.on_push_failure
test('a push that may fail is a warning that why shows', async () => {
  const other = newScene(area, {
    agents: {
      plain: { workspace: { push_on_success: true, on_push_failure: 'warn' }, landing: { policy: 'none' } },
    },
  });
  other.git('remote', 'add', 'origin', path.join(area, 'nowhere.git'));
  const task = await other.add('pushes', 'commit pushed pushed.txt');
  await other.up();
  expect(await other.statuses()).toEqual({ pushes: 'done' });
  expect(await other.why(task)).toMatch(/Warning: .* could not be pushed/);
});
