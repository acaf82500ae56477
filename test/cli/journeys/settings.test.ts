/** copse.yml, COPSE_BOARD, `copse config` and `copse doctor`. */

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, inject, test } from 'vitest';

import { answer, copse, git, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';

const area = newArea();

interface Setting {
  readonly key: string;
  readonly value: unknown;
  readonly from: string;
}

describe('copse config', () => {
  test('without a copse.yml shows the defaults and says that all is fine', async () => {
    const at = { cwd: newRepository(area) };
    const { settings } = await answer<{ settings: Setting[] }>(['config'], at);
    expect(settings.length).toBeGreaterThan(10);
    expect(new Set(settings.map(({ from }) => from))).toEqual(new Set(['default']));
    const lines = (await printed(['config', 'show'], at)).trimEnd().split('\n');
    expect(lines).toHaveLength(settings.length);
    expect(await answer(['config', 'check'], at)).toEqual({ ok: true });
    expect(existsSync(path.join(at.cwd, '.copse'))).toBe(false);
  });

  // promise: passwords-hidden
  test('shows the settings of the file, without the password in the board’s address', async () => {
    const at = { cwd: newRepository(area) };
    writeConfig(at.cwd, 'board: postgres://ada:s3cret@db.example/team\nagents:\n  coder:\n    max: 7\n');
    const { settings } = await answer<{ settings: Setting[] }>(['config'], at);
    expect(settings).toContainEqual({ key: 'agents.coder.max', value: 7, from: 'copse.yml' });
    const text = await printed(['config', 'show'], at);
    expect(text).toMatch(/^agents\.coder\.max +7$/m);
    expect(text + JSON.stringify(settings)).not.toContain('s3cret');
    expect(text).toMatch(/^board +postgres:\/\/.*db\.example\/team$/m);
  });

  test('prints a JSON Schema that an editor can use', async () => {
    const schema = JSON.parse(await printed(['config', 'schema'], { cwd: newRepository(area) })) as object;
    expect(schema).toMatchObject({
      type: 'object',
      $schema: expect.stringContaining('json-schema.org') as string,
    });
    expect(schema).toHaveProperty(['properties', 'agents']);
  });

  test('check names file, line, column and the nearest key for every mistake: 2', async () => {
    const at = { cwd: newRepository(area) };
    writeConfig(at.cwd, '# mine\nagents:\n  coder:\n    modle: x\n    max: lots\nlandnig: {}\n');
    const { code, stdout, stderr } = await copse(['config', 'check'], at);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const [first, second, third, ...next] = stderr.split('\n');
    expect(first).toMatch(
      /^copse: copse\.yml:4:5: agents\.coder\.modle is not a known key\. Did you mean .*model\?$/,
    );
    expect(second).toMatch(/^copse\.yml:5:10: agents\.coder\.max must be a /);
    expect(third).toMatch(/^copse\.yml:6:1: landnig is not a known key\. Did you mean landing\?$/);
    expect(next).toEqual(['    After you correct it:', '  → copse config check', '']);
    // What needs the board cannot go on either, and says the same.
    const list = await copse(['list'], at);
    expect(list).toMatchObject({ code: 1, stdout: '' });
    expect(list.stderr).toContain('copse.yml:4:5:');
  });

  test('check says what is wrong with a copse.yml that cannot be read at all: 2', async () => {
    const at = { cwd: newRepository(area) };
    mkdirSync(path.join(at.cwd, 'copse.yml'));
    for (const [argv, expected] of [
      [['config', 'check'], 2],
      [['list'], 1],
    ] as const) {
      const { code, stdout, stderr } = await copse(argv, at);
      expect(stderr).toMatch(/^copse: copse\.yml.+\n {4}Check .+ permission.*\.\n$/);
      expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    }
  });

  // promise: settings-from-main-checkout
  test('reads the main checkout’s copse.yml in every worktree, and ignores the worktree’s own', async () => {
    const main = newRepository(area);
    writeConfig(main, 'agents:\n  coder:\n    max: 3\n');
    const worktree = path.join(area, 'a wörktree');
    git(main, 'worktree', 'add', '--quiet', '--detach', worktree);
    mkdirSync(path.join(worktree, 'sub'));
    for (const text of [
      'agents:\n  coder:\n    max: 99\n',
      'broken: [',
      'board: postgres://127.0.0.1:1/none\n',
    ]) {
      writeConfig(worktree, text);
      writeConfig(path.join(worktree, 'sub'), text);
      for (const cwd of [worktree, path.join(worktree, 'sub')]) {
        const { settings } = await answer<{ settings: Setting[] }>(['config'], { cwd });
        expect(settings).toContainEqual({ key: 'agents.coder.max', value: 3, from: 'copse.yml' });
      }
      expect(await printed(['list'], { cwd: worktree })).toContain('The board is empty.');
    }
  });
});

describe('the board’s address', () => {
  test('is COPSE_BOARD, else copse.yml, else a file beside .git', async () => {
    const cwd = newRepository(area);
    const [inFile, inEnvironment] = [postgresAddress(), postgresAddress()];
    await newTasks(['On SQLite'], { cwd });
    writeConfig(cwd, `board: ${inFile}\n`);
    await answer(['config', 'accept', '--yes'], { cwd });
    await newTasks(['On the file’s'], { cwd });
    const env = { COPSE_BOARD: inEnvironment };
    await newTasks(['On the environment’s'], { cwd, env });
    const titles = async (options: { cwd: string; env?: Record<string, string> }) => {
      const { tasks } = await answer<{ tasks: { title: string }[] }>(['list'], options);
      return tasks.map(({ title }) => title);
    };
    expect(await titles({ cwd })).toEqual(['On the file’s']);
    expect(await titles({ cwd, env })).toEqual(['On the environment’s']);
    expect(await titles({ cwd, env: { COPSE_BOARD: inFile } })).toEqual(['On the file’s']);
    rmSync(path.join(cwd, 'copse.yml'));
    await answer(['config', 'accept', '--yes'], { cwd });
    expect(await titles({ cwd })).toEqual(['On SQLite']);
    expect(await titles({ cwd, env: { COPSE_BOARD: '' } })).toEqual(['On SQLite']);
  });

  test('on PostgreSQL leaves nothing in the repository', async () => {
    const cwd = newRepository(area);
    await newTasks(['Elsewhere'], { cwd, env: { COPSE_BOARD: postgresAddress() } });
    expect(existsSync(path.join(cwd, '.copse'))).toBe(false);
  });
});

describe('copse doctor', () => {
  test('checks node, git, the repository, its settings, the board and the disk', async () => {
    const at = { cwd: newRepository(area) };
    const { checks } = await answer<{ checks: { name: string; ok: boolean; found: string }[] }>(
      ['doctor'],
      at,
    );
    const names = 'node git repository commit settings board agents disk sandbox docker processes'.split(' ');
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual(names.map((name) => [name, true]));
    const text = await printed(['doctor'], at);
    expect(text.match(/^[✓–] /gm)).toHaveLength(checks.length);
    expect(text).toContain(path.join(at.cwd, '.copse', 'board.db'));
    const onPostgres = await printed(['doctor'], { ...at, env: { COPSE_BOARD: postgresAddress() } });
    expect(onPostgres).toMatch(/^✓ board +postgres at postgres:\/\/127\.0\.0\.1:\d+\/postgres/m);
  });

  test('names each problem and what to do, and fails', async () => {
    const nowhere = path.join(area, 'nowhere');
    mkdirSync(nowhere);
    const outside = await copse(['doctor', '--json'], { cwd: nowhere });
    expect(outside.code).toBe(1);
    const { checks } = JSON.parse(outside.stdout) as {
      checks: { name: string; ok: boolean; remedy: string }[];
    };
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['repository']);
    for (const { ok, remedy } of checks) if (!ok) expect(remedy).toMatch(/\S/);
    expect(JSON.parse(outside.stderr)).toMatchObject({ error: { code: 'unhealthy' } });

    const env = { COPSE_BOARD: 'postgres://ada:s3cret@127.0.0.1:1/db' };
    const unreachable = await copse(['doctor'], { cwd: newRepository(area), env });
    expect(unreachable.code).toBe(1);
    expect(unreachable.stdout).toMatch(
      /^✗ board +The board at postgres:\/\/127\.0\.0\.1:1\/db cannot be reached/m,
    );
    expect(unreachable.stdout + unreachable.stderr).not.toContain('s3cret');
    expect(unreachable.stderr).toMatch(
      /^copse: 1 of 11 checks failed\.\n {4}After .+ ✗:\n {2}→ copse doctor\n$/,
    );
  });

  test('says what this machine can and cannot confine, and why not', async () => {
    const env = { PATH: '/nowhere' };
    const { stdout } = await copse(['doctor'], { cwd: newRepository(area), env });
    expect(stdout).toMatch(/^– sandbox +agents cannot use "sandbox: runtime": .+$/m);
    expect(stdout).not.toMatch(/^–.* install /m);
    expect(stdout).toContain('\nLines with – are optional.\n');
    expect(stdout).toMatch(/^– docker +agents cannot use "sandbox: docker": .*docker was not found/m);
    expect(stdout).toMatch(/^[✓–] processes +(Copse finds|a process that)/m);
  });

  test('without git on the PATH says so', async () => {
    const { code, stdout } = await copse(['doctor'], { cwd: newRepository(area), env: { PATH: '/nowhere' } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ git +not found\n {4}Install git/m);
  });
});

function writeConfig(folder: string, text: string): void {
  writeFileSync(path.join(folder, 'copse.yml'), text);
}

function postgresAddress(): string {
  return `${inject('postgresUrl')}?schema=cli_${randomBytes(6).toString('hex')}`;
}
