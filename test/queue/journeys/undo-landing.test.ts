/** Undoing what landed: a task that takes it back and lands like any other. INVARIANTS 21, 22 and 29. */

import { existsSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene, refusedBy } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** Two commits in files of its own. */
const TWO = 'commit "$COPSE_TASK_ID one" "$COPSE_TASK_ID.1"; commit "$COPSE_TASK_ID two" "$COPSE_TASK_ID.2"';

interface UndoDocument {
  readonly commit: string;
  readonly commits: readonly { readonly id: string }[];
  readonly undo: { readonly id: string; readonly title: string; readonly status: string };
}

const undo = (scene: Scene, id: string) => answer<UndoDocument>(['undo', id], scene.at);
const tree = (scene: Scene, ref = 'main') => scene.git('rev-parse', `${ref}^{tree}`);
const refs = (scene: Scene) => scene.git('for-each-ref', '--format=%(refname) %(objectname)');

describe.each(['rebase', 'merge', 'squash'])('with %s', (method) => {
  let scene: Scene;
  let ids: readonly string[];

  beforeAll(async () => {
    scene = newScene(area, { sections: { landing: { method } } });
    const first = await scene.add('first', TWO);
    await scene.up();
    // Together, so that they land in one stack.
    ids = [first, await scene.add('second', TWO), await scene.add('third', TWO)];
    await scene.up();
  });

  test('shows what would be reverted, and does nothing, with --dry-run', async () => {
    const [, second = ''] = ids;
    expect(Object.values(await scene.statuses())).toEqual(['done', 'done', 'done']);
    const [before, events] = [refs(scene), (await scene.events()).length];
    const text = await printed(['undo', second, '--dry-run'], scene.at);
    expect(text).toContain(`Would undo ${second} second\n`);
    expect(text).toMatch(/2 files, \+0 -2/);
    expect(text).toContain(method === 'rebase' ? 'reverts 2 commits' : 'reverts 1 commit');
    expect(refs(scene)).toBe(before);
    expect(await scene.events()).toHaveLength(events);
  });

  test('reverts one of several, through the queue; undone again, it is back', async () => {
    const [first = '', second = '', third = ''] = ids;
    const before = tree(scene);
    const { undo: task, commit } = await undo(scene, second);
    expect(task).toMatchObject({ title: 'Undo: second', status: 'landing' });
    expect(await printed(['show', second], scene.at)).toContain(`not yet: ${task.id} is in the queue`);
    expect(await scene.merge(task.id)).toContain('Landed');

    const files = scene.git('ls-tree', '--name-only', 'main').split('\n');
    expect(files).toEqual(expect.arrayContaining([`${first}.1`, `${first}.2`, `${third}.1`, `${third}.2`]));
    expect(files).not.toContain(`${second}.1`);
    expect(files).not.toContain(`${second}.2`);
    expect(scene.git('status', '--porcelain')).toBe('');
    const message = scene.git('log', '--no-merges', '-1', '--format=%an|%B', 'main');
    expect(message).toContain(method === 'squash' ? 'Revert "second"' : 'Ada|Revert "second"');
    expect(message).toContain(`Task: ${task.id}`);
    if (method !== 'squash') expect(message).toContain(`Reverts: ${second} ${commit}`);

    expect((await scene.tasks()).get(second)?.status).toBe('done');
    expect(await printed(['show', second], scene.at)).toMatch(new RegExp(`^ +undone +by ${task.id}$`, 'm'));
    expect(await answer(['show', second], scene.at)).toMatchObject({ undone: { is: 'undone', by: task.id } });
    expect(await scene.why(second)).toContain(`${task.id} undid it.`);
    expect(await refusedBy(['undo', second], scene.at)).toContain(
      `To bring it back:\n  → copse undo ${task.id}\n`,
    );
    // Nothing of it is left behind.
    expect(scene.git('branch', '--format=%(refname:short)')).toBe('main');
    expect(existsSync(path.join(scene.folder, '.worktrees', task.id))).toBe(false);

    const again = await undo(scene, task.id);
    expect(again.undo.title).toBe('Undo: Undo: second');
    expect(await scene.merge(again.undo.id)).toContain('Landed');
    expect(tree(scene)).toBe(before);
    expect(await answer(['show', second], scene.at)).toMatchObject({ undone: null });
    const onceMore = await undo(scene, second);
    expect(await scene.merge(onceMore.undo.id)).toContain('Landed');
    expect(scene.git('ls-tree', '--name-only', 'main').split('\n')).not.toContain(`${second}.1`);
  });
});

// promise: revert-exact
test('a landing that later work builds on is not reverted: files and tasks are named, and nothing is written', async () => {
  const scene = newScene(area);
  const first = await scene.add('first', 'commit first f.txt');
  await scene.up();
  const later = await scene.add(
    'later',
    'echo more >> f.txt; git commit --quiet --all --message="feat: later"',
  );
  await scene.up();
  const [before, events] = [refs(scene), (await scene.events()).length];
  for (const options of [[], ['--dry-run']]) {
    const said = await refusedBy(['undo', first, ...options], scene.at);
    expect(said).toContain(`later work changed the same lines in f.txt: ${later} (later).`);
    expect(said).toContain('→ copse add "Undo: first"');
  }
  expect(refs(scene)).toBe(before);
  expect(await scene.events()).toHaveLength(events);
});

test('is started once at a time; a cancelled one does not count', async () => {
  const scene = newScene(area);
  const id = await scene.add('work', 'commit work w.txt');
  await scene.up();
  const both = await Promise.all([1, 2].map(() => copse(['undo', id, '--json'], scene.at)));
  expect(both.map(({ code }) => code).toSorted()).toEqual([0, 4]);
  const { undo: task } = JSON.parse(both.find(({ code }) => code === 0)?.stdout ?? '') as UndoDocument;
  expect(scene.git('branch', '--format=%(refname:short)').split('\n')).toHaveLength(2);
  expect(await refusedBy(['undo', id], scene.at)).toContain(
    `${id} is being undone by ${task.id}, which is landing.`,
  );
  await printed(['cancel', task.id], scene.at);
  const again = await undo(scene, id);
  expect(await scene.merge(again.undo.id)).toContain('Landed');
  expect(scene.git('ls-tree', '--name-only', 'main').split('\n')).not.toContain('w.txt');
});

test('is reviewed if work is reviewed, and lands on the target of the work', async () => {
  const scene = newScene(area, {
    agents: { plain: { landing: { target: 'release' } } },
    sections: { landing: { policy: 'review', target: 'main' } },
  });
  scene.git('branch', 'release');
  const id = await scene.add('work', 'commit work w.txt');
  await scene.up();
  await printed(['review', id, '--approve'], scene.at);
  await scene.up();
  expect(scene.git('show', 'release:w.txt')).toBe('work');
  const main = scene.git('rev-parse', 'main');
  expect(await printed(['undo', id], scene.at)).toMatch(
    /^Added cp-\w+ “Undo: .*”; it waits for your review\n/,
  );
  const { reviews } = await answer<{ reviews: readonly { task: { id: string }; target: string }[] }>(
    ['review'],
    scene.at,
  );
  expect(reviews).toMatchObject([
    { task: { title: 'Undo: work' }, target: 'release', change: { deleted: 1 } },
  ]);
  const task = reviews[0]?.task.id ?? '';
  expect(await printed(['review', task], scene.at)).toContain('-work\n');
  const listed = await printed(['worktrees'], scene.at);
  expect(listed).toContain(`${task} NO FOLDER`);
  expect(listed).toContain('only a branch, made by copse undo');
  expect(listed).not.toMatch(/MISSING|its folder is gone/);
  expect(await printed(['show', task], scene.at)).toMatch(
    /worktree +none: only a branch, made by copse undo/,
  );
  await printed(['review', task, '--approve'], scene.at);
  await scene.up();
  expect(scene.git('ls-tree', '--name-only', 'release').split('\n')).not.toContain('w.txt');
  expect(scene.git('rev-parse', 'main')).toBe(main);
});

test('--worktree restores the worktree of landed work, and the landing stays', async () => {
  const scene = newScene(area);
  const id = await scene.add('work', 'commit work w.txt');
  await scene.up();
  const main = scene.git('rev-parse', 'main');
  expect(await printed(['undo', id, '--worktree'], scene.at)).toContain(
    `Brought back the worktree of ${id},`,
  );
  expect(git(path.join(scene.folder, '.worktrees', id), 'show', 'HEAD:w.txt')).toBe('work');
  expect(scene.git('rev-parse', 'main')).toBe(main);
});

test('work that did not land, or is no longer on the target, is refused, with --dry-run too', async () => {
  const scene = newScene(area);
  const id = await scene.add('work', 'commit work w.txt');
  expect(await copse(['undo', id], scene.at)).toMatchObject({ code: 3, stdout: '' });
  expect(await copse(['undo', id, '--dry-run'], scene.at)).toMatchObject({ code: 2, stdout: '' });
  await scene.up();
  // Somebody took it out of the history.
  scene.git('reset', '--quiet', '--hard', 'HEAD^');
  expect(await refusedBy(['undo', id], scene.at)).toContain(`main no longer contains what ${id} landed.`);
});
