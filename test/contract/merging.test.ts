/** Candidates and trials of many kinds of histories: they are what plain git makes of them. */

import { describe, expect, it } from 'vitest';

import { git, newArea } from '../support/cli.ts';
import { BASE, MergeScene, interpretTrailers, text } from '../support/merging.ts';

const area = newArea();

type History = (scene: MergeScene) => void;

const histories: Readonly<Record<string, History>> = {
  'changes of both sides in one file': (scene) => {
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('task', { 'a.txt': text({ 1: 'task\n', 2: 'again\n' }), 'new ü.txt': 'n\n' });
    scene.commit('main', { 'a.txt': text({ 10: 'main\n' }) });
  },
  'a file that the target renamed': (scene) => {
    scene.commit('task', { 'dir/c.txt': text({ 3: 'c\n', 8: 'task\n' }) });
    scene.commit('main', { 'dir/c.txt': null, 'moved/c.txt': text({ 3: 'c\n', 1: 'main\n' }) });
  },
  'a file that the task renamed': (scene) => {
    scene.commit('task', { 'dir/c.txt': null, 'moved/c.txt': text({ 3: 'c\n', 8: 'task\n' }) });
    scene.commit('main', { 'dir/c.txt': text({ 3: 'c\n', 1: 'main\n' }) });
  },
  'modes and links': (scene) => {
    scene.commit('task', { tool: { program: '#!/bin/sh\n' }, link: { link: 'a.txt' } });
    scene.commit('main', { 'b.txt': { link: 'a.txt' } });
  },
  'binary files': (scene) => {
    scene.commit('task', { bin: Buffer.from([0, 9, 9, 9, 0, 13, 10]) });
    scene.commit('main', { 'other bin': Buffer.from([0, 1]) });
  },
  'binary files that both changed': (scene) => {
    scene.commit('task', { bin: Buffer.from([0, 9]) });
    scene.commit('main', { bin: Buffer.from([0, 1]) });
  },
  'line endings': (scene) => {
    scene.commit('task', { 'crlf.txt': text({ 1: 'task\n' }).replaceAll('\n', '\r\n') });
    scene.commit('main', { 'crlf.txt': text({ 10: 'main\n' }).replaceAll('\n', '\r\n') });
  },
  'a change of what the target deleted': (scene) => {
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('main', { 'a.txt': null });
  },
  'a file in place of a folder': (scene) => {
    scene.commit('task', { dir: 'a file\n' });
    scene.commit('main', { 'b.txt': 'main\n' });
  },
  'commits that were empty from the beginning, and one that becomes so': (scene) => {
    scene.commit('task', {}, { message: 'nothing, on purpose\n' });
    scene.commit('task', { 'b.txt': 'the same\n' });
    scene.commit('task', { 'n.txt': 'n\n' });
    scene.commit('task', {}, { message: 'nothing again\n' });
    scene.commit('main', { 'b.txt': 'the same\n' });
  },
  'names and messages in other scripts': (scene) => {
    const author = 'Ødïn 林 "x" <o@exämple.invalid>';
    scene.commit(
      'task',
      { 'n.txt': 'n\n' },
      { author, message: 'añade 林\n\nbody\n\n  indented\n\n\tlast\n' },
    );
    scene.commit('main', { 'b.txt': 'main\n' });
  },
  'a message in Latin-1': (scene) => {
    const message = Buffer.from('f\xfcr\n\nB\xf6dy\n', 'latin1');
    scene.commit('task', { 'n.txt': 'n\n' }, { message, config: ['i18n.commitEncoding=ISO-8859-1'] });
    scene.commit('main', { 'b.txt': 'main\n' });
  },
  'a commit that the target has already, and went on from': (scene) => {
    const picked = scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('task', { 'n.txt': 'n\n' });
    git(scene.desk, 'checkout', '--quiet', '--detach', 'main');
    git(scene.desk, 'cherry-pick', picked);
    git(scene.desk, 'update-ref', 'refs/heads/main', 'HEAD');
    scene.commit('main', { 'a.txt': text({ 1: 'main went on\n' }) });
  },
  'nothing new in the target': (scene) => {
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('task', { 'a.txt': text({ 2: 'task\n' }) });
  },
};

/** What depends on how objects are named. */
const inBoth: ReadonlySet<History | undefined> = new Set([
  histories['changes of both sides in one file'],
  histories['commits that were empty from the beginning, and one that becomes so'],
  histories['a message in Latin-1'],
]);

function sceneOf(history: History, format = 'sha1'): MergeScene {
  const scene = new MergeScene(area, { format });
  scene.commit('main', BASE);
  history(scene);
  return scene;
}

const cases = Object.entries(histories).flatMap(([name, history]) =>
  (inBoth.has(history) ? ['sha1', 'sha256'] : ['sha1']).map((format) => [name, format, history] as const),
);

describe.each(cases)('of %s (%s)', (_, format, history) => {
  const made = lazily(() => sceneOf(history, format));

  it('a trial says what a build will say, and leaves no object behind', async () => {
    const scene = made();
    const before = scene.objects();
    const { conflicts } = await scene.merging.trial(scene.tip('main'), scene.tip('task'));
    expect(scene.objects()).toEqual(before);
    const built = await scene.build('task');
    expect(conflicts).toEqual('files' in built ? built.files : []);
  });

  it('a rebase is what git rebase makes', async () => {
    const scene = made();
    const plain = scene.plainly('rebase', 'task');
    const built = await scene.build('task');
    if (plain === undefined) {
      expect(scene.plainly('merge', 'task')).toBeUndefined();
      expect(built).toMatchObject({ built: false, because: 'conflict' });
      return;
    }
    if (!built.built) throw new Error(JSON.stringify(built));
    const expected = scene.history(plain).map((one) => interpretTrailers(`${one}\n`, 'Task: cp-0001').trim());
    expect(scene.history(built.commit)).toEqual(expected);
    expect(built).toMatchObject({ commits: expected.length, note: null });
    expect(git(scene.top, 'merge-base', 'main', built.commit)).toBe(scene.tip('main'));
    expect(git(scene.top, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('a merge is what git merge makes', async () => {
    const scene = made();
    const plain = scene.plainly('merge', 'task');
    const built = await scene.build('task', { method: 'merge' });
    if (plain === undefined) {
      expect(built).toMatchObject({ built: false, because: 'conflict' });
      return;
    }
    if (!built.built) throw new Error(JSON.stringify(built));
    expect(scene.tree(built.commit)).toBe(scene.tree(plain));
    expect(git(scene.top, 'show', '--no-patch', '--format=%P%n%B', built.commit)).toBe(
      `${scene.tip('main')} ${scene.tip('task')}\nMerge task into main\n\nRäume auf\n\nTask: cp-0001`,
    );
    expect(built.commits).toBe(Number(git(scene.top, 'rev-list', '--count', `main..${built.commit}`)));
  });
});

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
