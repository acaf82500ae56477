/** Candidates of histories that are easily got wrong: they are what plain git makes of them. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { findRepository } from '../../../../packages/copse/src/git/directory/locate.ts';
import { openMerging } from '../../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type CommitId, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import { mergeMethods } from '../../../../packages/copse/src/queue/rules/landing.ts';
import { git, newArea, plainEnv } from '../../../support/cli.ts';
import { type History, compareWithGit } from '../../../support/queue/merging-comparison.ts';
import { BASE, MergeScene, text } from '../../../support/queue/merging.ts';

/** A commit that a submodule is at; nobody has it. */
const COMMITS = ['1', '2', '3'].map((digit) => digit.repeat(40));

/** Points a submodule somewhere, without one being there. */
function point(scene: MergeScene, branch: string, at: number): void {
  const exists = git(scene.top, 'branch', '--list', branch) !== '';
  git(scene.desk, 'checkout', '--quiet', '--force', '--detach', exists ? branch : 'main');
  mkdirSync(path.join(scene.desk, 'sub'), { recursive: true });
  git(scene.desk, 'update-index', '--add', '--cacheinfo', `160000,${COMMITS[at]},sub`);
  git(scene.desk, 'commit', '--quiet', '--message', `${branch}: sub at ${at}`);
  git(scene.desk, 'update-ref', `refs/heads/${branch}`, 'HEAD');
}

const moved = (from: string, to: string, changes = {}) => ({ [from]: null, [to]: text(changes) });

const histories: Readonly<Record<string, History>> = {
  'a file that both renamed alike, and changed in different places': (scene) => {
    scene.commit('task', moved('a.txt', 'moved.txt', { 1: 'task\n' }));
    scene.commit('main', moved('a.txt', 'moved.txt', { 10: 'main\n' }));
  },
  'a file that both renamed differently': (scene) => {
    scene.commit('task', moved('a.txt', 'by task.txt'));
    scene.commit('main', moved('a.txt', 'by main.txt'));
  },
  'a file that the task renamed and the target deleted': (scene) => {
    scene.commit('task', moved('a.txt', 'moved.txt', { 1: 'task\n' }));
    scene.commit('main', { 'a.txt': null });
  },
  'a file that the task deleted and the target changed': (scene) => {
    scene.commit('task', { 'a.txt': null });
    scene.commit('main', { 'a.txt': text({ 1: 'main\n' }) });
  },
  'a renamed folder to which the other side adds a file': (scene) => {
    scene.commit('main', { 'dir/d.txt': text({ 5: 'd\n' }), 'dir/e.txt': text({ 6: 'e\n' }) });
    scene.commit('task', { 'dir/new.txt': 'new\n' });
    scene.commit('main', {
      dir: null,
      'elsewhere/c.txt': text({ 3: 'c\n' }),
      'elsewhere/d.txt': text({ 5: 'd\n' }),
      'elsewhere/e.txt': text({ 6: 'e\n' }),
    });
  },
  'a renamed folder in which the other side changes a file': (scene) => {
    scene.commit('main', { 'dir/d.txt': text({ 5: 'd\n' }) });
    scene.commit('task', { 'dir/d.txt': text({ 5: 'd\n', 9: 'task\n' }) });
    scene.commit('main', {
      dir: null,
      'elsewhere/c.txt': text({ 3: 'c\n' }),
      'elsewhere/d.txt': text({ 5: 'd\n' }),
    });
  },
  'a mode that one side changed and content that the other did': (scene) => {
    scene.commit('task', { tool: { program: '#!/bin/sh\n' } });
    scene.commit('main', { tool: '#!/bin/sh\necho main\n' });
  },
  'a link in place of a file that the other side changed': (scene) => {
    scene.commit('task', { 'a.txt': { link: 'b.txt' } });
    scene.commit('main', { 'a.txt': text({ 1: 'main\n' }) });
  },
  'a submodule that only the task moved': (scene) => {
    point(scene, 'main', 0);
    point(scene, 'task', 1);
    scene.commit('main', { 'b.txt': 'main\n' });
  },
  'a submodule that both moved alike': (scene) => {
    point(scene, 'main', 0);
    point(scene, 'task', 1);
    scene.commit('task', { 'n.txt': 'n\n' });
    point(scene, 'main', 1);
  },
  'a submodule that both moved elsewhere': (scene) => {
    point(scene, 'main', 0);
    point(scene, 'task', 1);
    point(scene, 'main', 2);
  },
  'line endings that attributes ask for': (scene) => {
    scene.commit('main', { '.gitattributes': '*.txt text eol=crlf\n' });
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('main', { 'a.txt': text({ 10: 'main\n' }) });
  },
  'names with blanks, quotes, line ends and other scripts': (scene) => {
    const names = ['a b/c d.txt', 'new\nline/x\ny.txt', '"quoted"\t.txt', '林/ü.txt', '.. /-x'];
    scene.commit('main', Object.fromEntries(names.map((name) => [name, text()])));
    for (const [at, name] of names.entries()) scene.commit('task', { [name]: text({ [at]: 'task\n' }) });
    scene.commit('main', Object.fromEntries(names.map((name) => [name, text({ 11: 'main\n' })])));
  },
  'a conflict at names with blanks, quotes, line ends and other scripts': (scene) => {
    const names = ['a b/c d.txt', 'new\nline/x\ny.txt', '"quoted"\t.txt', '林/ü.txt'];
    scene.commit('main', Object.fromEntries(names.map((name) => [name, text()])));
    scene.commit('task', Object.fromEntries(names.map((name) => [name, text({ 1: 'task\n' })])));
    scene.commit('main', Object.fromEntries(names.map((name) => [name, text({ 1: 'main\n' })])));
  },
  'a folder whose name sorts between a file and another folder': (scene) => {
    scene.commit('main', { 'x/1': '1\n', 'x.txt': 'x\n', 'x-y': 'y\n' });
    scene.commit('task', { x: 'a file\n', 'x.txt': 'task\n' });
    scene.commit('task', { x: null, 'x/2': '2\n' });
    scene.commit('main', { 'x-y': 'main\n', 'xx/3': '3\n' });
  },
  'a new file where the target made a folder': (scene) => {
    scene.commit('task', { 'new/b': 'a file\n' });
    scene.commit('main', { 'new/b/c.txt': 'in a folder\n' });
  },
  'a new folder where the target made a file': (scene) => {
    scene.commit('task', { 'new/b/c.txt': 'in a folder\n' });
    scene.commit('main', { 'new/b': 'a file\n' });
  },
  'both sides merged into each other': (scene) => {
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('main', { 'a.txt': text({ 10: 'main\n' }) });
    const [task, main] = [scene.tip('task'), scene.tip('main')];
    scene.mergeInto('task', main);
    scene.mergeInto('main', task);
    scene.commit('task', { 'dir/c.txt': text({ 3: 'c\n', 1: 'task\n' }) });
    scene.commit('main', { 'dir/c.txt': text({ 3: 'c\n', 10: 'main\n' }) });
  },
  'a merge of three branches at once': (scene) => {
    scene.commit('task', { 'n.txt': 'n\n' });
    scene.commit('second', { 's.txt': 's\n' });
    scene.commit('third', { 't.txt': 't\n' });
    git(scene.desk, 'checkout', '--quiet', '--detach', 'task');
    git(scene.desk, 'merge', '--quiet', '--message=octopus', 'second', 'third');
    git(scene.desk, 'update-ref', 'refs/heads/task', 'HEAD');
    scene.commit('main', { 'b.txt': 'main\n' });
  },
};

compareWithGit(histories, {
  inSha256: [
    'a folder whose name sorts between a file and another folder',
    'both sides merged into each other',
  ],
});

const area = newArea();

/** As `git commit --gpg-sign` would; nobody checks it. */
function sign(scene: MergeScene, branch: string): CommitId {
  const raw = git(scene.top, 'cat-file', 'commit', branch);
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n parent of lies\n -----END PGP SIGNATURE-----';
  const signed = raw.replace(/^(committer .*)$/m, `$1\n${signature}`);
  git(scene.top, 'branch', '--force', branch, hashCommit(scene, `${signed}\n`));
  return scene.tip(branch);
}

function hashCommit(scene: MergeScene, raw: string): string {
  const argv = ['hash-object', '-t', 'commit', '-w', '--stdin'];
  return execFileSync('git', argv, { cwd: scene.top, env: plainEnv, input: raw, encoding: 'utf8' }).trim();
}

it('a signature is dropped with the commit that it signed, and stays if nothing has to change', async () => {
  const scene = new MergeScene(area);
  scene.commit('main', BASE);
  scene.commit('task', { 'n.txt': 'n\n' }, { message: 'one\n\nTask: cp-0001\n' });
  const signed = sign(scene, 'task');
  expect(await scene.build('task')).toMatchObject({ kind: 'built', commit: signed });
  scene.commit('main', { 'b.txt': 'main\n' });
  const plain = scene.plainly('rebase', 'task')!;
  const built = await scene.build('task');
  if (built.kind !== 'built') throw new Error(JSON.stringify(built));
  expect(scene.history(built.commit)).toEqual(scene.history(plain));
  for (const commit of [plain, built.commit])
    expect(git(scene.top, 'cat-file', 'commit', commit)).not.toContain('gpgsig');
});

it('a line that looks like a parent in a signature or a message is not one', async () => {
  const scene = new MergeScene(area);
  const old = scene.commit('main', BASE);
  const message = `one\n\nparent ${old}\ntree ${'0'.repeat(40)}\n`;
  scene.commit('task', { 'n.txt': 'n\n' }, { message });
  sign(scene, 'task');
  const raw = git(scene.top, 'cat-file', 'commit', 'task');
  const forged = raw.replace(/^(author .*)$/m, `$1\nparent ${old}`);
  // Git does not see this one either.
  git(scene.top, 'branch', '--force', 'forged', hashCommit(scene, `${forged}\n`));
  scene.commit('main', { 'b.txt': 'main\n' });
  for (const branch of ['task', 'forged'])
    expect(await scene.build(branch)).toMatchObject({ kind: 'built', commits: 1, note: null });
});

it('in a shallow clone, branches land on the history that is there', async () => {
  const scene = new MergeScene(area);
  scene.commit('main', BASE);
  scene.commit('main', { 'b.txt': 'second\n' });
  const clone = path.join(area, 'shallow');
  git(area, 'clone', '--quiet', '--depth=1', '--branch=main', `file://${scene.top}`, clone);
  const commit = (branch: string, file: string) => {
    git(clone, 'checkout', '--quiet', '-B', branch, branch === 'main' ? 'main' : 'origin/main');
    writeFileSync(path.join(clone, file), `${branch}\n`);
    git(clone, 'add', '--all');
    git(clone, 'commit', '--quiet', `--message=${branch}`);
    return brand<CommitId>(git(clone, 'rev-parse', 'HEAD'));
  };
  const [head, onto] = [commit('task', 'n.txt'), commit('main', 'b.txt')];
  const merging = openMerging(openTrustedDir(findRepository(clone)!));
  for (const method of mergeMethods) {
    const built = await merging.build({
      ...scene.request('main'),
      branch: brand('task'),
      onto,
      head,
      method,
    });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    await merging.bring(built.commit);
    git(clone, 'checkout', '--quiet', '--detach', 'main');
    git(clone, 'merge', '--quiet', '--no-ff', 'task');
    expect(built).toMatchObject({ tree: git(clone, 'rev-parse', 'HEAD^{tree}') });
    expect(git(clone, 'rev-list', '--count', `main..${built.commit}`)).toBe(String(built.commits));
  }
  // Where history ends, there is nothing to go back to.
  git(clone, 'checkout', '--quiet', '--orphan', 'alone');
  git(clone, 'commit', '--quiet', '--message=alone');
  const alone = brand<CommitId>(git(clone, 'rev-parse', 'HEAD'));
  expect(await merging.build({ ...scene.request('main'), onto, head: alone })).toEqual({
    kind: 'unrelated',
  });
  await merging.close();
});

it('names that are not UTF-8 land unchanged', async () => {
  const scene = new MergeScene(area);
  scene.commit('main', BASE);
  const name = Buffer.concat([Buffer.from(`${scene.desk}/`), Buffer.from([0x66, 0xfc, 0x72])]);
  git(scene.desk, 'checkout', '--quiet', '--detach', 'main');
  writeFileSync(name, text());
  git(scene.desk, 'add', '--all');
  git(scene.desk, 'commit', '--quiet', '--message=bytes');
  git(scene.desk, 'update-ref', 'refs/heads/task', 'HEAD');
  scene.commit('main', { 'b.txt': 'main\n' });
  for (const method of mergeMethods) {
    const built = await scene.build('task', { method });
    expect(built).toMatchObject({ kind: 'built', tree: scene.tree(scene.plainly('merge', 'task')!) });
  }
});
