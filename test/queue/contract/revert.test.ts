/** Taking back exactly what landed, whatever landed before, with and after it. INVARIANTS 21 and 22. */

import { spawnSync } from 'node:child_process';

import { afterAll, describe, expect, it } from 'vitest';

import { openReverting } from '../../../packages/copse/src/queue/merge/revert.ts';
import { type CommitId, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { type Reverted, type RevertRequest } from '../../../packages/copse/src/queue/ports/merging.ts';
import { type MergeMethod, mergeMethods } from '../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { BASE, type Files, MergeScene, text } from '../../support/queue/merging.ts';

const area = newArea();
const open: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(open.map((one) => one.close())));

const id = (name: string) => brand<TaskId>(`cp-${name}`);

/** A target on which tasks land one after another, as the queue lets them. */
class Target {
  readonly scene = new MergeScene(area);
  readonly landed = new Map<string, CommitId>();
  readonly #reverting = openReverting(this.scene.dir);

  constructor() {
    open.push(this.#reverting);
    this.scene.commit('main', BASE);
  }

  /** Each change is a commit of the task's branch. */
  async land(name: string, method: MergeMethod, ...changes: readonly Files[]): Promise<CommitId> {
    for (const files of changes) this.scene.commit(name, files, { message: `feat: ${name}\n` });
    const built = await this.scene.build(name, { task: id(name), title: `Title of ${name}`, method });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    return this.moveTo(name, built.commit);
  }

  moveTo(name: string, commit: CommitId): CommitId {
    git(this.scene.top, 'update-ref', 'refs/heads/main', commit);
    this.landed.set(name, commit);
    return commit;
  }

  revert(name: string, options: Partial<RevertRequest> = {}): Promise<Reverted> {
    const landed = this.landed.get(name) ?? expect.fail(`${name} did not land`);
    return this.#reverting.revert({
      task: id(`undo-${name}`),
      reverts: id(name),
      title: `Title of ${name}`,
      landed,
      others: new Set([...this.landed].filter(([other]) => other !== name).map(([, commit]) => commit)),
      onto: this.scene.tip('main'),
      at: timestamp(1_700_000_000_000),
      ...options,
    });
  }

  show(file: string, commit = 'main'): string {
    return `${git(this.scene.top, 'show', `${commit}:${file}`)}\n`;
  }

  /** What plain git makes of it in a checkout: the tree, or undefined for a conflict. */
  plainly(commits: readonly string[], ...argv: readonly string[]): string | undefined {
    const { desk } = this.scene;
    git(desk, 'checkout', '--quiet', '--force', '--detach', 'main');
    const { status } = spawnSync('git', ['revert', '--no-commit', ...argv, ...commits], {
      cwd: desk,
      env: plainEnv,
    });
    const tree = status === 0 ? git(desk, 'write-tree') : undefined;
    git(desk, 'reset', '--quiet', '--hard');
    return tree;
  }
}

function must(reverted: Reverted): Extract<Reverted, { kind: 'reverted' }> {
  return reverted.kind === 'reverted' ? reverted : expect.fail(JSON.stringify(reverted));
}

describe.each(mergeMethods)('a landing by %s', (method) => {
  async function stack(): Promise<Target> {
    const target = new Target();
    await target.land('before', method, { 'a.txt': text({ 1: 'before\n' }) }, { 'n.txt': 'before\n' });
    await target.land(
      'it',
      method,
      { 'a.txt': text({ 1: 'before\n', 5: 'it\n' }) },
      { 'it.txt': '1\n' },
      { 'it.txt': '2\n' },
    );
    await target.land(
      'after',
      method,
      { 'a.txt': text({ 1: 'before\n', 5: 'it\n', 9: 'after\n' }) },
      { 'b.txt': 'after\n' },
    );
    return target;
  }

  // promise: revert-exact
  it('is reverted between others, all of it and nothing else', async () => {
    const target = await stack();
    const { commit, before, commits } = must(await target.revert('it'));
    expect(target.show('a.txt', commit)).toBe(text({ 1: 'before\n', 9: 'after\n' }));
    expect(git(target.scene.top, 'diff', '--name-only', 'main', commit).split('\n')).toEqual([
      'a.txt',
      'it.txt',
    ]);
    expect(git(target.scene.top, 'rev-parse', `${commit}^@`)).toBe(target.scene.tip('main'));
    expect(before).toBe(target.landed.get('before'));
    expect(commits).toHaveLength(method === 'rebase' ? 3 : 1);
    const own = method === 'merge' ? ['-m', '1'] : [];
    const landed = commits.map((one) => one.id);
    expect(target.scene.tree(commit)).toBe(target.plainly(landed, ...own));
  });

  it('is reverted at the tip, to the tree before it', async () => {
    const target = await stack();
    const { commit } = must(await target.revert('after'));
    expect(target.scene.tree(commit)).toBe(target.scene.tree(target.landed.get('it')!));
  });

  it('comes back when the undo is undone', async () => {
    const target = await stack();
    const tree = target.scene.tree('main');
    const { commit } = must(await target.revert('it'));
    target.moveTo('undo-it', commit);
    const again = must(await target.revert('undo-it'));
    expect(target.scene.tree(again.commit)).toBe(tree);
    expect(again.commits.map((one) => one.id)).toEqual([commit]);
  });

  it('names both tasks and the reverted commits', async () => {
    const target = await stack();
    const { commit } = must(await target.revert('it'));
    const [subject, ...rest] = git(target.scene.top, 'log', '-1', '--format=%B', commit).split('\n');
    expect(subject).toBe('Revert "Title of it"');
    expect(rest.slice(-2)).toEqual(['Task: cp-undo-it', `Reverts: cp-it ${target.landed.get('it')}`]);
    expect(git(target.scene.top, 'log', '-1', '--format=%cn', commit)).toBe('Copse');
  });

  // promise: revert-exact
  it('is not reverted if later work builds on it, which is named', async () => {
    const target = await stack();
    const later = await target.land('later', method, { 'it.txt': '2\nlater\n' });
    const objects = target.scene.objects();
    const reverted = await target.revert('it');
    expect(reverted).toMatchObject({ kind: 'conflict', files: ['it.txt'] });
    if (reverted.kind !== 'conflict') throw new Error('It conflicts.');
    expect(reverted.later.flatMap(({ body }) => body.match(/^Task: .*$/gm) ?? [])).toContain(
      'Task: cp-later',
    );
    expect(reverted.later.map((one) => one.id)).toContain(later);
    expect(target.scene.objects()).toEqual(objects);
  });

  it('gives the same commit each time, and a trial writes nothing', async () => {
    const target = await stack();
    const objects = target.scene.objects();
    const trial = must(await target.revert('it', { isTrial: true }));
    expect(target.scene.objects()).toEqual(objects);
    expect(must(await target.revert('it'))).toEqual(trial);
    expect(git(target.scene.top, 'cat-file', '-t', trial.commit)).toBe('commit');
    git(target.scene.top, 'fsck', '--strict', '--no-dangling');
  });
});

describe('limits of a revert', () => {
  it('a landing of the same task right before is not reverted with it', async () => {
    const target = new Target();
    await target.land('it', 'rebase', { 'it.txt': 'first\n' });
    const first = target.landed.get('it')!;
    const again = target.scene.commit(
      'again',
      { 'more.txt': '1\n' },
      { message: 'feat: again\n\nTask: cp-it\n' },
    );
    target.moveTo('it', again);
    const { commit } = must(await target.revert('it', { others: new Set([first]) }));
    expect(target.scene.tree(commit)).toBe(target.scene.tree(first));
  });

  it('commits that name the task and ended another landing stay', async () => {
    const target = new Target();
    // Another task landed with a commit of this one's branch in it.
    const other = target.scene.commit(
      'main',
      { 'o.txt': '1\n' },
      { message: 'feat: o\n\nTask: cp-it\nTask: cp-other\n' },
    );
    target.landed.set('other', other);
    await target.land('it', 'rebase', { 'it.txt': '1\n' });
    const { commit } = must(await target.revert('it'));
    expect(target.scene.tree(commit)).toBe(target.scene.tree(other));
  });

  it('reverting an empty landing changes nothing', async () => {
    const target = new Target();
    await target.land('before', 'rebase', { 'b.txt': 'x\n' });
    target.landed.set('it', target.scene.tip('main'));
    expect(await target.revert('it')).toEqual({ kind: 'brought_nothing' });
  });

  it('a landing is not reverted twice', async () => {
    const target = new Target();
    await target.land('it', 'rebase', { 'it.txt': '1\n' });
    target.scene.commit('main', { 'it.txt': null });
    expect(await target.revert('it')).toEqual({ kind: 'nothing_left' });
  });

  it('a commit that the target does not have is not reverted', async () => {
    const target = new Target();
    await target.land('it', 'rebase', { 'it.txt': '1\n' });
    git(target.scene.top, 'update-ref', 'refs/heads/main', `${target.scene.tip('main')}^`);
    expect(await target.revert('it')).toEqual({ kind: 'not_there' });
    const unknown = brand<CommitId>('0123456789'.repeat(4));
    expect(await target.revert('it', { landed: unknown })).toEqual({ kind: 'not_there' });
  });

  it('a file that was moved since is found, and renames, modes and binary files are reverted', async () => {
    const target = new Target();
    await target.land('it', 'rebase', {
      'dir/c.txt': text({ 3: 'c\n', 7: 'it\n' }),
      'b.txt': null,
      'b2.txt': 'b\n',
      bin: Buffer.from([9, 0, 9]),
      tool: { program: '#!/bin/sh\n' },
    });
    await target.land('mover', 'rebase', { 'dir/c.txt': null, 'moved.txt': text({ 3: 'c\n', 7: 'it\n' }) });
    const { commit } = must(await target.revert('it'));
    expect(target.show('moved.txt', commit)).toBe(text({ 3: 'c\n' }));
    expect(git(target.scene.top, 'ls-tree', '-r', '--name-only', commit).split('\n')).not.toContain('b2.txt');
    expect(git(target.scene.top, 'ls-tree', commit, 'tool')).toMatch(/^100644/);
    expect(git(target.scene.top, 'rev-parse', `${commit}:bin`)).toBe(
      git(target.scene.top, 'rev-parse', `${target.landed.get('it')}^:bin`),
    );
  });
});
