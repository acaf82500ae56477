/** `working_directory`: an agent works in another repository than the board's, and its work lands there. */

import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, expect, test } from 'vitest';

import { copse, git, newArea, newRepository, printed, commitAsAgent } from '../../support/cli.ts';
import { endAgents, newScene, type Scene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

function otherRepository(): string {
  const folder = newRepository(area);
  commitAsAgent(folder);
  writeFileSync(path.join(folder, 'there.txt'), 'there\n');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message=chore: there');
  return folder;
}

/** Everything that git has of the repository: refs with their commits, and registered worktrees. */
function stateOf(folder: string): string {
  const refs = git(folder, 'for-each-ref', '--format=%(refname) %(objectname)');
  const objects = git(folder, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)');
  return [
    refs,
    git(folder, 'worktree', 'list', '--porcelain'),
    objects,
    git(folder, 'status', '--short'),
  ].join('\n');
}

function withOther(other: string, more: Readonly<Record<string, unknown>> = {}): Scene {
  return newScene(area, { agents: { here: {}, there: { working_directory: other, ...more } } });
}

// setting: agents.<name>.working_directory.root
test('an agent with a working_directory works, lands and cleans up there, and nothing of it touches the repository of the board', async () => {
  const other = otherRepository();
  const scene = withOther(other);
  await scene.up();
  const before = stateOf(scene.folder);
  const trap = path.join(area, 'trap');
  const planted = JSON.stringify({ agents: { there: { workspace: { teardown: [`touch '${trap}'`] } } } });
  const id = await scene.add(
    'build it',
    `printf '%s' '${planted.replaceAll("'", `'\\''`)}' > copse.yml; git add copse.yml; commit built built.txt`,
    '--agent=there',
  );
  await scene.up();
  expect(await scene.statuses()).toEqual({ 'build it': 'done' });
  expect(stateOf(scene.folder)).toBe(before);
  expect(git(other, 'log', '--format=%s', 'main').split('\n')[0]).toBe('feat: built');
  expect(existsSync(path.join(other, 'built.txt'))).toBe(true);
  expect(git(other, 'worktree', 'list').split('\n')).toHaveLength(1);
  expect(git(other, 'status', '--short')).toBe('');
  expect(readdirSync(scene.folder)).not.toContain('built.txt');
  // Settings are those of the board's repository: files that land elsewhere decide nothing.
  expect(existsSync(trap)).toBe(false);
  expect(await scene.why(id)).toContain('build it');
  expect(await printed(['show', id], scene.at)).toContain(other);
});

test('two repositories have queues of their own, also for branches of one name, and a task that names no agent is for the board’s', async () => {
  const other = otherRepository();
  const scene = withOther(other, { workspace: { branch_pattern: 'work/{jobId}' } });
  await scene.add('here', 'commit here here.txt');
  await scene.add('there', 'commit there new.txt', '--agent=there');
  await scene.up();
  expect(await scene.statuses()).toEqual({ here: 'done', there: 'done' });
  expect(scene.subjects().at(-1)).toBe('feat: here');
  expect(git(other, 'log', '-1', '--format=%s', 'main')).toBe('feat: there');
});

test('commands look at the repository of the task, or refuse', async () => {
  const other = otherRepository();
  const scene = withOther(other, { landing: { policy: 'review' } });
  const id = await scene.add('look', 'commit looked looked.txt', '--agent=there');
  const over = await scene.add('over', 'commit over over.txt', '--agent=there');
  await scene.up();
  const before = stateOf(scene.folder);
  await printed(['cancel', over], scene.at);
  expect(await printed(['diff', id], scene.at)).toContain('looked.txt');
  expect(await printed(['worktrees'], scene.at)).toContain(path.join(other, '.worktrees', id));
  for (const argv of [
    ['work', id],
    ['sync', id],
    ['cleanup', id, '--yes'],
    ['undo', id],
    ['rescue', 'list', id],
  ]) {
    const { code, stderr } = await copse(argv, scene.at);
    expect({ argv, code: code !== 0, stderr }).toEqual({
      argv,
      code: true,
      stderr: expect.stringContaining(other),
    });
  }
  for (const argv of [['cleanup'], ['cleanup', '--force'], ['sweep'], ['tend']]) await copse(argv, scene.at);
  expect(existsSync(path.join(other, '.worktrees', id, 'looked.txt'))).toBe(true);
  expect(existsSync(path.join(other, '.worktrees', over, 'over.txt'))).toBe(true);
  expect(stateOf(scene.folder)).toBe(before);
  expect(await printed(['merge', id], scene.at)).toContain('Landed');
  expect(git(other, 'log', '-1', '--format=%s', 'main')).toBe('feat: looked');
  expect(stateOf(scene.folder)).toBe(before);
});

test('work in a repository that no agent names any more can be seen, stopped, landed and deleted, also when it is gone', async () => {
  const other = otherRepository();
  const scene = withOther(other, { landing: { policy: 'review' } });
  const ids: string[] = [];
  for (const name of ['seen', 'cancelled', 'gone'])
    ids.push(await scene.add(name, `commit ${name} ${name}.txt`, '--agent=there'));
  const [seen = '', cancelled = '', gone = ''] = ids;
  await scene.up();
  const config = path.join(scene.folder, 'copse.yml');
  const written = JSON.parse(readFileSync(config, 'utf8')) as { agents: { there: object } };
  const { working_directory: _, ...there } = written.agents.there as Record<string, unknown>;
  writeFileSync(config, JSON.stringify({ ...written, agents: { ...written.agents, there } }));
  await printed(['config', 'accept', '--yes'], scene.at);
  expect(await printed(['diff', seen], scene.at)).toContain('seen.txt');
  const resumed = await copse(['restart', seen], scene.at);
  expect({ ...resumed, code: resumed.code !== 0 }).toMatchObject({ code: true });
  expect(await printed(['merge', seen], scene.at)).toContain('Landed');
  expect(git(other, 'log', '-1', '--format=%s', 'main')).toBe('feat: seen');
  expect(await printed(['cancel', cancelled], scene.at)).toContain('Cancelled');
  expect(await printed(['delete', cancelled, '--yes'], scene.at)).toContain('removed');
  expect(existsSync(path.join(other, '.worktrees', cancelled))).toBe(false);
  rmSync(other, { recursive: true });
  const { code, stderr } = await copse(['diff', gone], scene.at);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(other) });
  expect(await printed(['cancel', gone], scene.at)).toContain('Cancelled');
  expect(await printed(['delete', gone, '--yes'], scene.at)).toContain('Deleted');
});

test('a working_directory that cannot be used is named by doctor, and its task waits for that reason', async () => {
  const scene = newScene(area, {
    agents: {
      here: {},
      nowhere: { working_directory: '../absent' },
      inside: { working_directory: './sub' },
      own: { working_directory: '.' },
      unnamed: { working_directory: { root: '../absent', auto_clone: true } },
    },
  });
  const id = await scene.add('wait', 'commit w w.txt', '--agent=nowhere');
  const { stderr } = await copse(['orchestrate', '--until-idle'], scene.at);
  expect(stderr).toContain(
    `The agent nowhere works in another repository, and ${path.join(area, 'absent')} does not exist`,
  );
  expect(await scene.why(id)).toContain('does not exist: clone it there, or set auto_clone');
  const { stdout } = await copse(['doctor'], scene.at);
  expect(stdout).toContain('does not exist, and auto_clone needs a url');
  await scene.add('own', 'commit own own.txt', '--agent=own');
  await copse(['orchestrate', '--until-idle'], scene.at);
  expect(scene.subjects().at(-1)).toBe('feat: own');
});

// setting: agents.<name>.working_directory.auto_clone, agents.<name>.working_directory.url
// setting: agents.<name>.working_directory.clone_depth, agents.<name>.working_directory.default_branch
test('auto_clone clones the repository when an orchestrator starts, and two agents share its queue', async () => {
  const origin = otherRepository();
  git(origin, 'branch', 'trunk');
  const root = path.join(area, 'cloned ü');
  // Git clones a path whole.
  const url = pathToFileURL(origin).href;
  const elsewhere = { root, auto_clone: true, url, clone_depth: 1, default_branch: 'trunk' };
  const env = {
    working_directory: elsewhere,
    env: {
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@x.invalid',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@x.invalid',
    },
  };
  const scene = newScene(area, { agents: { one: env, two: env } });
  await scene.add('first', 'commit first first.txt', '--agent=one');
  await scene.add('second', 'commit second second.txt', '--agent=two');
  await scene.up();
  await scene.up();
  expect(await scene.statuses()).toEqual({ first: 'done', second: 'done' });
  expect(git(root, 'rev-parse', '--is-shallow-repository')).toBe('true');
  expect(git(root, 'log', '-2', '--format=%s', 'trunk').split('\n').toSorted()).toEqual([
    'feat: first',
    'feat: second',
  ]);
  expect(readdirSync(area).filter((name) => name.includes('copse-clone'))).toEqual([]);
});

test('a runner that is killed elsewhere is recovered there: its files are rescued and its task is tried again', async () => {
  const other = otherRepository();
  const scene = withOther(other);
  await scene.up();
  const before = stateOf(scene.folder);
  const runner = `ps -o ppid= -p "$PPID"`;
  const script = `if [ -e "$NOTES.crashed" ]; then commit whole there.txt; else
    touch "$NOTES.crashed"; echo half > half.txt; kill -9 $(${runner}) "$PPID"; sleep 60; fi`;
  const id = await scene.add('crash', script, '--agent=there');
  await scene.up();
  expect(await scene.statuses()).toEqual({ crash: 'done' });
  expect((await scene.tasks()).get(id)?.retries).toBe(0);
  expect(git(other, 'for-each-ref', 'refs/copse')).toContain(id);
  expect(git(other, 'log', '-1', '--format=%s', 'main')).toBe('feat: whole');
  expect(stateOf(scene.folder)).toBe(before);
});
