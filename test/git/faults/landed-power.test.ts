/** Files that decide what Copse runs: a change of them, however it came into the main checkout, counts once a person accepted it. */

import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { worktreeWriteSet } from '../../../packages/copse/src/agents/rules/session/sandbox.ts';
import { isWithin } from '../../../packages/copse/src/kernel/system/within.ts';
import {
  type Finished,
  type TaskDocument,
  answer,
  copse,
  git,
  newArea,
  newRepository,
  printed,
} from '../../support/cli.ts';
import { newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();

interface Scene {
  readonly cwd: string;
  /** Nothing may appear here before it is accepted. */
  readonly trap: string;
}

function scene(files: Readonly<Record<string, string>> = {}): Scene {
  const cwd = newRepository(area);
  commit(cwd, { 'a.txt': 'a\n', ...files }, 'set up');
  return { cwd, trap: path.join(area, `trap ${path.basename(cwd)}`) };
}

/** As a landing leaves it: committed, and in the main checkout. */
function commit(cwd: string, files: Readonly<Record<string, string>>, message: string): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  git(cwd, 'add', '--all');
  git(cwd, 'commit', '--quiet', `--message=${message}`);
}

async function workOn(at: { cwd: string }, title: string): Promise<Finished & { worktree: string }> {
  const added = await copse(['add', title, '--json'], at);
  const { id } = JSON.parse(added.stdout) as TaskDocument;
  const done = await copse(['work', id, '--json'], at);
  return { ...done, worktree: path.join(at.cwd, '.worktrees', id) };
}

const spring = (trap: string) => `touch '${trap}'`;

// promise: power-accepted
describe.each([
  [
    'copse.yml',
    (trap: string) => ({ 'copse.yml': JSON.stringify({ workspace: { setup: [spring(trap)] } }) }),
  ],
  [
    '.cursor/worktrees.json',
    (trap: string) => ({ '.cursor/worktrees.json': JSON.stringify({ 'setup-worktree': [spring(trap)] }) }),
  ],
  [
    'conductor.json',
    (trap: string) => ({ 'conductor.json': JSON.stringify({ scripts: { setup: spring(trap) } }) }),
  ],
])('%s', (name, planted) => {
  test('that a task landed runs nothing before a person accepted it, and is flagged until then', async () => {
    const { cwd, trap } = scene();
    await answer(['list'], { cwd });
    commit(cwd, planted(trap), 'landed');
    const first = await workOn({ cwd }, 'Before');
    expect(first.code).toBe(0);
    expect(existsSync(trap)).toBe(false);
    for (const command of ['review', 'queue', 'list']) {
      const { code, stderr } = await copse([command], { cwd });
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining(`${name} is new; Copse does not use it yet`) as string,
      });
      expect(stderr).toContain('copse config accept');
    }
    const doctor = await copse(['doctor'], { cwd });
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(new RegExp(`✗ settings +${name.replaceAll('.', '\\.')} is new`));

    const unsaid = await copse(['config', 'accept'], { cwd });
    expect(unsaid.code).not.toBe(0);
    expect(unsaid.stdout).toContain('+ ');
    expect(unsaid.stdout).toContain('touch ');
    await workOn({ cwd }, 'Still before');
    expect(existsSync(trap)).toBe(false);

    const said = await copse(['config', 'accept', '--yes'], { cwd });
    expect(said).toMatchObject({ code: 0, stderr: '' });
    await workOn({ cwd }, 'After');
    expect(existsSync(trap)).toBe(true);
    expect((await copse(['queue'], { cwd })).stderr).toBe('');
  });

  test('as it was accepted holds while a landed change waits', async () => {
    const { cwd, trap } = scene(planted(path.join(area, 'first.mark')));
    rmSync(path.join(area, 'first.mark'), { force: true });
    await answer(['list'], { cwd });
    commit(cwd, planted(trap), 'landed');
    await workOn({ cwd }, 'Before');
    expect(existsSync(path.join(area, 'first.mark'))).toBe(true);
    expect(existsSync(trap)).toBe(false);
  });
});

describe('copse config accept', () => {
  // promise: power-accepted
  test('is refused to sessions, with and without --yes', async () => {
    const { cwd } = scene({ 'copse.yml': 'agents: {}\n' });
    const { id } = await answer<TaskDocument>(['add', 'One'], { cwd });
    commit(cwd, { 'copse.yml': 'workspace: { setup: [touch x] }\n' }, 'landed');
    const env = { COPSE_SESSION_ID: 'se-abc', COPSE_TASK_ID: id, COPSE_TOKEN: '1' };
    for (const more of [[], ['--yes']]) {
      const { code, stderr } = await copse(['config', 'accept', ...more], { cwd, env });
      expect(code).toBe(4);
      expect(stderr).toContain('may not run');
    }
    expect((await copse(['list'], { cwd })).stderr).toContain('copse.yml changed');
  });

  test('does not accept a copse.yml with mistakes, and says where they are', async () => {
    const { cwd } = scene();
    await answer(['list'], { cwd });
    writeFileSync(path.join(cwd, 'copse.yml'), 'agnets: {}\n');
    const listed = await copse(['list'], { cwd });
    expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining('copse.yml:1:1:') as string });
    const { code, stderr } = await copse(['config', 'accept', '--yes'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('copse.yml:1:1:');
  });

  // promise: passwords-hidden
  test('shows where addresses lead, and no password of them', async () => {
    const { cwd } = scene();
    await answer(['list'], { cwd });
    const settings = {
      board: 'postgres://ada:s3cret@db.example/team',
      notifications: { webhook: 'https://hooks.example/services/T0KEN' },
    };
    writeFileSync(path.join(cwd, 'copse.yml'), JSON.stringify(settings, null, 2));
    writeFileSync(
      path.join(cwd, '.gitmodules'),
      '[submodule "a"]\n\turl = https://bo:s3cret@git.example/a\n',
    );
    const { stdout, stderr } = await copse(['config', 'accept'], { cwd });
    expect(stdout).toMatch(/"webhook": "https:\/\/hooks\.example\/\(hidden-/);
    expect(stdout).toContain('@db.example/team');
    expect(stdout).toContain('@git.example/a');
    expect(stdout + stderr).not.toMatch(/s3cret|T0KEN/);
  });

  test('a copse.yml that is a link, a folder or endless counts as absent, and stops no command', async () => {
    const { cwd } = scene();
    await answer(['list'], { cwd });
    const config = path.join(cwd, 'copse.yml');
    for (const plant of [
      () => symlinkSync('/dev/zero', config),
      () => symlinkSync('a.txt', config),
      () => mkdirSync(config),
      () => writeFileSync(config, 'x'.repeat(2 ** 21)),
    ]) {
      plant();
      const { code, stderr } = await copse(['list'], { cwd });
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining('copse.yml cannot be used: it is not a small plain file.') as string,
      });
      rmSync(config, { recursive: true });
    }
  });

  test('keeps a record that it can read, however often an alias repeats a text', async () => {
    const { cwd } = scene();
    await answer(['list'], { cwd });
    const checks = ['&long', JSON.stringify(`true ${'x'.repeat(100_000)}`)].join(' ');
    const commands = [checks, ...Array.from({ length: 99 }, () => '*long')];
    writeFileSync(path.join(cwd, 'copse.yml'), `workspace:\n  setup: [${commands.join(', ')}]\n`);
    expect(await copse(['config', 'accept', '--yes'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(path.join(cwd, '.git', 'copse', 'accepted.json')).size).toBeLessThan(500_000);
    expect(await copse(['list'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  });

  test('refuses files that together are larger than its record may be, and keeps the record', async () => {
    const { cwd } = scene();
    await answer(['list'], { cwd });
    const escaped = '\u0001'.repeat(1_000_000);
    for (const name of ['.worktreeinclude', 'conductor.json']) writeFileSync(path.join(cwd, name), escaped);
    const { code, stderr } = await copse(['config', 'accept', '--yes'], { cwd });
    expect(code).not.toBe(0);
    expect(stderr).toContain('too large to be accepted');
    expect((await copse(['list'], { cwd })).code).toBe(0);
  });

  test('is not needed for comments and layout', async () => {
    const { cwd } = scene({ 'copse.yml': 'policy: {max_agents: 2}\n' });
    await answer(['list'], { cwd });
    writeFileSync(path.join(cwd, 'copse.yml'), '# mine\npolicy:\n  max_agents: 2 # two\n');
    await answer(['list'], { cwd });
    expect(await answer(['config', 'accept'], { cwd })).toEqual({ accepted: [] });
  });

  test('shows what changed, line by line', async () => {
    const { cwd } = scene({ 'copse.yml': 'policy:\n  max_agents: 2\n  max_retries: 3\n' });
    await answer(['list'], { cwd });
    writeFileSync(path.join(cwd, 'copse.yml'), 'policy:\n  max_agents: 9\n  max_retries: 3\n');
    const { stdout } = await copse(['config', 'accept', '--yes'], { cwd });
    expect(stdout).toContain('  -   max_agents: 2\n  +   max_agents: 9\n');
    expect(stdout).toContain('Accepted copse.yml.');
  });

  // promise: power-accepted
  test('cannot be done for a person from inside a sandbox: the record is not in what it opens', async () => {
    const { cwd } = scene();
    await answer(['list'], { cwd });
    const commonDir = path.join(cwd, '.git');
    const record = path.join(commonDir, 'copse', 'accepted.json');
    expect(statSync(record).mode & 0o777).toBe(0o600);
    const places = {
      worktree: path.join(cwd, '.worktrees', 'cp-a'),
      namespace: 'cp-a',
      commonDir,
      sharesObjects: true,
    };
    const { write } = worktreeWriteSet({ ...places, gitDir: path.join(commonDir, 'worktrees', 'cp-a') });
    expect(write.filter((open) => isWithin(open, record))).toEqual([]);
  });

  test('a record that came with the repository counts for nothing', async () => {
    const { cwd, trap } = scene();
    await answer(['list'], { cwd });
    const planted = JSON.stringify({ workspace: { setup: [spring(trap)] } });
    const record = JSON.stringify({ files: { 'copse.yml': planted }, heads: {} });
    commit(cwd, { 'copse.yml': planted, 'copse/accepted.json': record }, 'landed');
    mkdirSync(path.join(cwd, '.copse', 'copse'), { recursive: true });
    writeFileSync(path.join(cwd, '.copse', 'accepted.json'), record);
    writeFileSync(path.join(cwd, '.copse', 'copse', 'accepted.json'), record);
    await workOn({ cwd }, 'One');
    expect(existsSync(trap)).toBe(false);
  });
});

// promise: power-accepted
test('a line that an agent lands in copse.yml is named in review and runs for no later task', async () => {
  const trap = path.join(area, 'landed.trap');
  const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
  const settings = JSON.parse(readFileSync(path.join(scene.folder, 'copse.yml'), 'utf8')) as object;
  const planted = path.join(area, 'planted.yml');
  writeFileSync(planted, JSON.stringify({ ...settings, workspace: { setup: [spring(trap)] } }, null, 2));
  const id = await scene.add('plants', `cp '${planted}' copse.yml; commit planted planted.txt`);
  await scene.up();
  expect(await printed(['review', id, '--stat'], scene.at)).toContain(
    'changes copse.yml (agents, commands, checks and notifications); Copse uses that after it landed and you ran: copse config accept',
  );
  await scene.merge(id);
  expect(readFileSync(path.join(scene.folder, 'copse.yml'), 'utf8')).toContain(trap);
  const { stderr } = await copse(['add', 'later', '--json'], scene.at);
  expect(stderr).toContain(
    'copse.yml changed; Copse still uses the accepted version.\n  → copse config accept\n',
  );
  await workOn({ cwd: scene.folder }, 'Later');
  expect(existsSync(trap)).toBe(false);
  await copse(['config', 'accept', '--yes'], scene.at);
  await workOn({ cwd: scene.folder }, 'Accepted');
  expect(existsSync(trap)).toBe(true);
});

// promise: power-accepted
test('a script that Cursor’s file names runs as it was accepted', async () => {
  const mark = path.join(area, 'script.mark');
  const { cwd, trap } = scene({
    '.cursor/worktrees.json': JSON.stringify({ 'setup-worktree': 'up.sh' }),
    '.cursor/up.sh': `echo accepted > '${mark}'\n`,
  });
  await answer(['list'], { cwd });
  commit(cwd, { '.cursor/up.sh': `${spring(trap)}\n` }, 'landed');
  await workOn({ cwd }, 'One');
  expect(existsSync(trap)).toBe(false);
  expect(readFileSync(mark, 'utf8')).toBe('accepted\n');
  await copse(['config', 'accept', '--yes'], { cwd });
  await workOn({ cwd }, 'Two');
  expect(existsSync(trap)).toBe(true);
});

test.each([
  ['a link to itself', (at: string) => symlinkSync('a', at)],
  ['a file', (at: string) => writeFileSync(at, '')],
])('a script that Cursor’s file names below %s stops no command', async (_, plant) => {
  const { cwd } = scene();
  await answer(['list'], { cwd });
  commit(cwd, { '.cursor/worktrees.json': JSON.stringify({ 'setup-worktree': 'a/b/c.sh' }) }, 'landed');
  plant(path.join(cwd, '.cursor', 'a'));
  const listed = await copse(['list'], { cwd });
  expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining('is new') as string });
  expect(await copse(['config', 'accept', '--yes'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  expect(await copse(['list'], { cwd })).toMatchObject({ code: 0, stderr: '' });
});

// promise: power-accepted
test('a landed .worktreeinclude brings agents no further files before it is accepted', async () => {
  const { cwd } = scene({ '.gitignore': '.env\nsecret.key\n.worktrees/\n', '.worktreeinclude': '.env\n' });
  writeFileSync(path.join(cwd, '.env'), 'A=1\n');
  writeFileSync(path.join(cwd, 'secret.key'), 'private\n');
  await answer(['list'], { cwd });
  commit(cwd, { '.worktreeinclude': '.env\nsecret.key\n' }, 'landed');
  const before = await workOn({ cwd }, 'One');
  expect(existsSync(path.join(before.worktree, '.env'))).toBe(true);
  expect(existsSync(path.join(before.worktree, 'secret.key'))).toBe(false);
  await copse(['config', 'accept', '--yes'], { cwd });
  const after = await workOn({ cwd }, 'Two');
  expect(existsSync(path.join(after.worktree, 'secret.key'))).toBe(true);
});

// promise: power-accepted
test('a landed address in .gitmodules is not fetched from before it is accepted', async () => {
  const library = newRepository(area);
  const { cwd } = scene();
  await answer(['list'], { cwd });
  git(cwd, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
  // As after a landing: the main checkout has the file and the link, and none of its objects.
  git(cwd, 'commit', '--quiet', '--message=landed');
  rmSync(path.join(cwd, '.git', 'modules'), { recursive: true });
  const before = await workOn({ cwd }, 'One');
  expect(existsSync(path.join(before.worktree, 'lib', '.git'))).toBe(false);
  expect(before.stdout + before.stderr).toContain('copse config accept');
  await copse(['config', 'accept', '--yes'], { cwd });
  const after = await workOn({ cwd }, 'Two');
  expect(existsSync(path.join(after.worktree, 'lib', '.git'))).toBe(true);
});

// promise: power-accepted
test('the base stays the accepted one when the remote’s HEAD names another branch', async () => {
  const { cwd } = scene();
  const remote = path.join(area, 'remote.git');
  git(area, 'clone', '--quiet', '--bare', cwd, remote);
  git(cwd, 'remote', 'add', 'origin', remote);
  git(cwd, 'push', '--quiet', 'origin', 'main');
  git(cwd, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  await answer(['list'], { cwd });
  git(cwd, 'branch', 'trap');
  git(cwd, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trap');
  const baseOf = async (title: string) => {
    const { stdout } = await workOn({ cwd }, title);
    return (JSON.parse(stdout) as { base: string | null }).base;
  };
  expect(await baseOf('One')).toBe('main');
  expect((await copse(['queue'], { cwd })).stderr).toContain('refs/remotes/origin/HEAD changed');
  await copse(['config', 'accept', '--yes'], { cwd });
  expect(await baseOf('Two')).toBe('trap');
});

describe('the first use', () => {
  test('accepts the files as they are, without a word to scripts', async () => {
    const { cwd, trap } = scene();
    commit(cwd, { 'conductor.json': JSON.stringify({ scripts: { setup: spring(trap) } }) }, 'ours');
    const { stderr, code } = await workOn({ cwd }, 'One');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(existsSync(trap)).toBe(true);
  });

  test('by init lists the files, and accepts the copse.yml that it writes', async () => {
    const { cwd } = scene({ 'conductor.json': JSON.stringify({ scripts: { setup: 'npm ci' } }) });
    const { code, stdout, stderr } = await copse(['init'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('conductor.json (set-up and teardown commands): new');
    expect(stdout).toContain('npm ci');
    expect((await copse(['list'], { cwd })).stderr).toBe('');
  });
});
