/** What Copse makes of histories, held against what plain git makes of them in a checkout. */

import { describe, expect, it } from 'vitest';

import { git, newArea } from '../cli.ts';
import { BASE, MergeScene, interpretTrailers } from './merging.ts';

/** Puts commits on `task` and `main`, which begin with the same files. */
export type History = (scene: MergeScene) => void;

interface Options {
  /** Names of those that are also tried where ids are longer. */
  readonly inSha256?: readonly string[];
}

export function compareWithGit(
  histories: Readonly<Record<string, History>>,
  { inSha256 = [] }: Options = {},
): void {
  const area = newArea();
  const cases = Object.entries(histories).flatMap(([name, history]) =>
    (inSha256.includes(name) ? ['sha1', 'sha256'] : ['sha1']).map(
      (format) => [name, format, history] as const,
    ),
  );

  describe.each(cases)('of %s (%s)', (_, format, history) => {
    const made = lazily(() => {
      const scene = new MergeScene(area, { format });
      scene.commit('main', BASE);
      history(scene);
      return scene;
    });

    it('a trial predicts the outcome of a build, and leaves no object behind', async () => {
      const scene = made();
      for (const method of ['rebase', 'merge', 'squash'] as const) {
        const before = scene.objects();
        const { conflicts } = await scene.merging.trial(scene.tip('main'), scene.tip('task'), method);
        expect(scene.objects()).toEqual(before);
        const built = await scene.build('task', { method });
        expect(conflicts).toEqual('files' in built ? built.files : []);
      }
    });

    it('a rebase equals that of git rebase', async () => {
      const scene = made();
      const isLinear = git(scene.top, 'rev-list', '--merges', 'main..task') === '';
      const plain = isLinear ? scene.plainly('rebase', 'task') : scene.plainly('merge', 'task');
      const built = await scene.build('task');
      if (plain === undefined) {
        expect(scene.plainly('merge', 'task')).toBeUndefined();
        expect(built).toMatchObject({ kind: 'conflict' });
        return;
      }
      if (built.kind !== 'built') throw new Error(JSON.stringify(built));
      expect(built.tree).toBe(scene.tree(plain));
      expect(scene.tree(built.commit)).toBe(built.tree);
      expect(git(scene.top, 'merge-base', 'main', built.commit)).toBe(scene.tip('main'));
      expect(git(scene.top, 'fsck', '--strict', '--no-dangling')).toBe('');
      if (!isLinear) {
        expect(built.note).toMatch(/^(Rebased without the merges|Landed as one squashed commit)/);
        expect(git(scene.top, 'rev-list', '--merges', `main..${built.commit}`)).toBe('');
        return;
      }
      const expected = scene
        .history(plain)
        .map((one) => interpretTrailers(`${one}\n`, 'Task: cp-0001').trim());
      expect(scene.history(built.commit)).toEqual(expected);
      expect(built).toMatchObject({ commits: expected.length, note: null });
    });

    it('a merge and a squash equal those of git merge', async () => {
      const scene = made();
      const plain = scene.plainly('merge', 'task');
      const built = await scene.build('task', { method: 'merge' });
      const squashed = await scene.build('task', { method: 'squash' });
      if (plain === undefined) {
        expect(built).toMatchObject({ kind: 'conflict' });
        expect(squashed).toEqual(built);
        return;
      }
      if (built.kind !== 'built' || squashed.kind !== 'built')
        throw new Error(JSON.stringify([built, squashed]));
      expect(scene.tree(built.commit)).toBe(scene.tree(plain));
      expect(scene.tree(squashed.commit)).toBe(scene.tree(plain));
      expect(git(scene.top, 'show', '--no-patch', '--format=%P%n%B', built.commit)).toBe(
        `${scene.tip('main')} ${scene.tip('task')}\nMerge task into main\n\nRäume auf\n\nTask: cp-0001`,
      );
      expect(built.commits).toBe(Number(git(scene.top, 'rev-list', '--count', `main..${built.commit}`)));
    });
  });
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
