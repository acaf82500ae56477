/** The repository and its board are found from anywhere, as git finds the repository. */

import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import {
  answer,
  copse,
  finished,
  git,
  newArea,
  newRepository,
  plainEnv,
  printed,
} from '../../support/cli.ts';

const area = newArea();

describe('findRepository agrees with git', () => {
  test('in the main checkout, a subfolder of it and a linked worktree, and the board is one', () => {
    const main = newRepository(area);
    mkdirSync(path.join(main, 'src', 'dëep'), { recursive: true });
    const worktree = addWorktree(main, 'a tree');
    mkdirSync(path.join(worktree, 'inner'));
    const places = [main, path.join(main, 'src', 'dëep'), worktree, path.join(worktree, 'inner')];
    for (const place of places) {
      agreesWithGit(place);
      expect(findRepository(place)).toMatchObject({ home: main, configFolder: main });
    }
    expect(places.map((place) => findRepository(place)?.top)).toEqual([main, main, worktree, worktree]);
  });

  test('in a worktree outside the repository and in one below another folder that is ignored', () => {
    const main = newRepository(area);
    for (const at of [path.join(area, `outside ${path.basename(main)}`), path.join(main, '.trees', 'x')]) {
      git(main, 'worktree', 'add', '--quiet', '--detach', at);
      agreesWithGit(at);
      expect(findRepository(at)).toMatchObject({ home: main, configFolder: main, top: at });
    }
  });

  test('in a bare repository and in its worktrees, which share a board inside it', () => {
    const bare = path.join(area, 'bäre.git');
    git(area, 'clone', '--quiet', '--bare', newRepository(area), bare);
    const worktree = addWorktree(bare, 'of bare');
    for (const place of [bare, path.join(bare, 'refs'), worktree]) {
      agreesWithGit(place);
      expect(findRepository(place)).toMatchObject({ home: bare, configFolder: bare });
    }
  });

  test('inside .git, also in the folder of one worktree', () => {
    const main = newRepository(area);
    addWorktree(main, 'known');
    for (const inside of ['.git', '.git/objects', '.git/worktrees', '.git/worktrees/known']) {
      agreesWithGit(path.join(main, inside));
      expect(findRepository(path.join(main, inside))).toMatchObject({ home: main, configFolder: main });
    }
  });

  test('in submodules, each with a board of its own', () => {
    const main = newRepository(area);
    const library = newRepository(area);
    const allowed = ['-c', 'protocol.file.allow=always'];
    for (const name of ['lib one', 'lib two']) {
      git(main, ...allowed, 'submodule', '--quiet', 'add', library, name);
    }
    const nested = path.join(main, 'lib one');
    git(nested, ...allowed, 'submodule', '--quiet', 'add', library, 'nested');
    const places = [main, nested, path.join(main, 'lib two'), path.join(nested, 'nested')];
    for (const place of places) agreesWithGit(place);
    expect(new Set(places.map((place) => findRepository(place)?.home)).size).toBe(places.length);
    expect(findRepository(nested)?.configFolder).toBe(nested);
    const homes = places.slice(1).map((place) => findRepository(place)?.home ?? '');
    for (const home of homes) expect(home.startsWith(path.join(main, '.git', 'modules'))).toBe(true);
  });

  // promise: settings-from-main-checkout
  test('in a worktree of a submodule, whose copse.yml is the one of the submodule’s own checkout', () => {
    const main = newRepository(area);
    git(main, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', newRepository(area), 'sub');
    const submodule = path.join(main, 'sub');
    const worktree = addWorktree(submodule, `of sub ${path.basename(main)}`);
    agreesWithGit(worktree);
    expect(findRepository(worktree)?.home).toBe(findRepository(submodule)?.home);
    expect(findRepository(worktree)?.configFolder).toBe(submodule);
  });

  // promise: settings-from-main-checkout
  test.each(['a submodule', 'a bare repository', 'a separate git directory'])(
    'in a worktree of %s, whatever core.worktree says that an agent wrote',
    (kind) => {
      const { main, worktree, configFolder } = newKind(kind);
      const gitDir = git(main, 'rev-parse', '--absolute-git-dir');
      const planted = path.join(worktree, 'planted');
      mkdirSync(planted);
      writeFileSync(path.join(planted, '.git'), `gitdir: ${gitDir}\n`);
      writeFileSync(path.join(planted, 'copse.yml'), 'workspace:\n  setup: ["touch planted"]\n');
      git(main, 'config', 'core.bare', 'false');
      git(main, 'config', 'core.worktree', planted);
      expect(git(gitDir, 'rev-parse', '--show-toplevel')).toBe(planted);
      expect(findRepository(worktree)?.configFolder).toBe(configFolder ?? gitDir);
    },
  );

  test('with a separate git directory, for its checkout and for its worktrees', () => {
    const checkout = path.join(area, 'checkout apart');
    const gitDir = path.join(area, 'git dir äpart');
    git(area, 'init', '--quiet', `--separate-git-dir=${gitDir}`, checkout);
    git(checkout, 'commit', '--quiet', '--allow-empty', '--message=first');
    const worktree = addWorktree(checkout, 'of apart');
    for (const place of [checkout, worktree, gitDir]) {
      agreesWithGit(place);
      expect(findRepository(place)?.home).toBe(gitDir);
    }
    expect(findRepository(checkout)?.configFolder).toBe(checkout);
    // Git does not know where the checkout of such a repository is, so this is the best that can be had.
    expect(findRepository(worktree)?.configFolder).not.toBe(worktree);
  });

  test('where a bare repository sits beside its worktrees and a .git file points to it', () => {
    const project = path.join(area, 'bare beside');
    mkdirSync(project);
    git(area, 'clone', '--quiet', '--bare', newRepository(area), path.join(project, '.bare'));
    writeFileSync(path.join(project, '.git'), 'gitdir: ./.bare\n');
    git(project, 'worktree', 'add', '--quiet', '--detach', 'tree');
    for (const place of [project, path.join(project, 'tree'), path.join(project, '.bare')]) {
      agreesWithGit(place);
      expect(findRepository(place)?.home).toBe(path.join(project, '.bare'));
    }
    const folders = [project, path.join(project, 'tree')].map((place) => findRepository(place)?.configFolder);
    expect(new Set(folders).size).toBe(1);
  });

  test('through a symlink to the repository, to a subfolder, and where .git itself is one', () => {
    const main = newRepository(area);
    mkdirSync(path.join(main, 'sub'));
    const toMain = path.join(area, `link to ${path.basename(main)}`);
    const toSub = path.join(area, `link to sub of ${path.basename(main)}`);
    symlinkSync(main, toMain);
    symlinkSync(path.join(main, 'sub'), toSub);
    for (const place of [toMain, toSub, path.join(toMain, 'sub')]) {
      agreesWithGit(place);
      expect(findRepository(place)).toMatchObject({ top: main, home: main });
    }
    const moved = newRepository(area);
    renameSync(path.join(moved, '.git'), path.join(area, 'moved.git'));
    symlinkSync(path.join(area, 'moved.git'), path.join(moved, '.git'));
    agreesWithGit(moved);
    expect(findRepository(moved)).toMatchObject({ top: moved, configFolder: moved });
  });

  test('in a repository inside an ignored folder of another: the inner one counts', () => {
    const outer = newRepository(area);
    writeFileSync(path.join(outer, '.gitignore'), 'vendor/\n');
    const inner = newRepository(path.join(outer, 'vendor'));
    agreesWithGit(inner);
    expect(findRepository(inner)).toMatchObject({ top: inner, home: inner });
    expect(findRepository(path.join(outer, 'vendor'))).toMatchObject({ top: outer, home: outer });
  });

  test('with a relative path in the .git file, and with line ends of every kind after it', () => {
    const main = newRepository(area);
    const worktree = addWorktree(main, 'relative');
    const gitDir = path.join(main, '.git', 'worktrees', 'relative');
    for (const end of ['\n', '\r\n', '', '\n\n']) {
      writeFileSync(path.join(worktree, '.git'), `gitdir: ${path.relative(worktree, gitDir)}${end}`);
      agreesWithGit(worktree);
      expect(findRepository(worktree)).toMatchObject({ top: worktree, home: main });
    }
  });

  test('where an empty folder is called .git: it is not one', () => {
    const main = newRepository(area);
    mkdirSync(path.join(main, 'sub', '.git'), { recursive: true });
    agreesWithGit(path.join(main, 'sub'));
    expect(findRepository(path.join(main, 'sub'))?.top).toBe(main);
  });

  test('where there is none', () => {
    const folder = path.join(area, 'no repository');
    mkdirSync(folder);
    expect(gitCommonDir(folder)).toBeUndefined();
    expect(findRepository(folder)).toBeUndefined();
  });
});

describe('a .git file that leads nowhere', () => {
  // promise: right-board
  test.each([
    ['a folder that is gone', 'gitdir: /gone/away\n'],
    ['nothing at all', ''],
    ['a folder that is no git directory', 'gitdir: .\n'],
  ])('to %s is reported, and no board further up is used', async (_, content) => {
    const outer = newRepository(area);
    const orphan = path.join(outer, 'orphan tree');
    mkdirSync(orphan);
    writeFileSync(path.join(orphan, '.git'), content);
    expect(gitCommonDir(orphan)).toBeUndefined();
    const { code, stdout, stderr } = await copse(['add', 'Lost'], { cwd: orphan });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^copse: .*\.git.*\n {4}In the main checkout, .*:\n {2}→ git worktree repair\n$/);
    expect(existsSync(path.join(outer, '.copse'))).toBe(false);
  });
});

describe('the board of a repository', () => {
  test('is created on first use, without init, and git does not see it', async () => {
    const main = newRepository(area);
    writeFileSync(path.join(main, 'tracked.txt'), 'as it was\n');
    git(main, 'add', '.');
    git(main, 'commit', '--quiet', '--message=second');
    await answer(['add', 'First'], { cwd: main });
    expect(existsSync(path.join(main, '.copse', 'board.db'))).toBe(true);
    expect(git(main, 'status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(git(main, 'ls-files')).toBe('tracked.txt');
    expect(excludeLines(main)).toEqual(['/.copse/']);
  });

  // promise: checkout-untouched
  test('leaves every byte of an info/exclude in place, also of a linked one', async () => {
    const main = newRepository(area);
    const elsewhere = path.join(main, '.git', 'my-excludes');
    const bytes = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x2e, 0x74, 0x78, 0x74]);
    writeFileSync(elsewhere, bytes);
    mkdirSync(path.join(main, '.git', 'info'), { recursive: true });
    rmSync(path.join(main, '.git', 'info', 'exclude'), { force: true });
    symlinkSync(elsewhere, path.join(main, '.git', 'info', 'exclude'));
    await answer(['add', 'First'], { cwd: main });
    expect(readFileSync(elsewhere).equals(Buffer.concat([bytes, Buffer.from('\n/.copse/\n')]))).toBe(true);
  });

  // promise: board-private
  test('is in a folder that only its owner can enter', async () => {
    const main = newRepository(area);
    await answer(['add', 'First'], { cwd: main });
    expect(statSync(path.join(main, '.copse')).mode & 0o777).toBe(0o700);
  });

  test('is the same from the main checkout, a subfolder and every worktree', async () => {
    const main = newRepository(area);
    mkdirSync(path.join(main, 'sub'));
    const places = [main, path.join(main, 'sub'), addWorktree(main, 'w1'), addWorktree(main, 'w2 ü')];
    for (const [index, cwd] of places.entries()) await answer(['add', `From ${index}`], { cwd });
    const lists = await Promise.all(places.map((cwd) => answer<{ tasks: unknown[] }>(['list'], { cwd })));
    expect(lists[0]?.tasks).toHaveLength(places.length);
    for (const list of lists) expect(list).toEqual(lists[0]);
    for (const cwd of places.slice(2)) {
      expect(existsSync(path.join(cwd, '.copse'))).toBe(false);
      expect(git(cwd, 'status', '--porcelain')).toBe('');
    }
  });

  test('of a bare repository is inside it and shared by its worktrees', async () => {
    const bare = path.join(area, 'shared.git');
    git(area, 'clone', '--quiet', '--bare', newRepository(area), bare);
    const worktree = addWorktree(bare, 'of shared');
    await answer(['add', 'From the worktree'], { cwd: worktree });
    expect(await printed(['list'], { cwd: bare })).toContain('From the worktree');
    expect(git(worktree, 'status', '--porcelain')).toBe('');
    expect(existsSync(path.join(bare, '.copse', 'board.db'))).toBe(true);
    git(bare, 'fsck');
  });

  test('is excluded by one line, also if info/exclude has no last line end, is missing, or lacks its folder', async () => {
    const unfinished = newRepository(area);
    writeFileSync(path.join(unfinished, '.git', 'info', 'exclude'), '*.log');
    const without = newRepository(area);
    rmSync(path.join(without, '.git', 'info', 'exclude'));
    const folderless = newRepository(area);
    rmSync(path.join(folderless, '.git', 'info'), { recursive: true });
    const already = newRepository(area);
    appendFileSync(path.join(already, '.git', 'info', 'exclude'), '/.copse/\r\n');
    const all = [unfinished, without, folderless, already];
    for (const cwd of [...all, ...all]) await printed(['list'], { cwd });
    expect(excludeLines(unfinished)).toEqual(['*.log', '/.copse/']);
    for (const cwd of [without, folderless]) expect(excludeLines(cwd)).toEqual(['/.copse/']);
    expect(readFileSync(path.join(already, '.git', 'info', 'exclude'), 'utf8').match(/copse/g)).toHaveLength(
      1,
    );
    for (const cwd of all) expect(git(cwd, 'status', '--porcelain')).toBe('');
  });

  test('is excluded, also if the folder .copse existed before', async () => {
    const main = newRepository(area);
    mkdirSync(path.join(main, '.copse'));
    await printed(['list'], { cwd: main });
    expect(git(main, 'status', '--porcelain')).toBe('');
  });

  test('is excluded by one line however many processes start at once', async () => {
    const main = newRepository(area);
    const runs = await Promise.all(Array.from({ length: 12 }, () => copse(['list'], { cwd: main })));
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      runs.map(() => ({ code: 0, stderr: '' })),
    );
    expect(excludeLines(main)).toEqual(['/.copse/']);
  });

  test('is excluded by one line when processes meet at the same moment over a long file', async () => {
    const folders = Array.from({ length: 20 }, (_, index) => path.join(area, 'meeting', String(index)));
    for (const folder of folders) {
      mkdirSync(path.join(folder, 'info'), { recursive: true });
      writeFileSync(
        path.join(folder, 'info', 'exclude'),
        '# long enough to take its time to read\n'.repeat(15_000),
      );
    }
    await Promise.all(Array.from({ length: 3 }, () => excludeInStep(folders)));
    const contents = folders.map((folder) => readFileSync(path.join(folder, 'info', 'exclude'), 'utf8'));
    expect(contents.map((content) => content.split('\n').filter((line) => line === '/.copse/'))).toEqual(
      folders.map(() => ['/.copse/']),
    );
  });
});

/** A repository whose git directory is not called `.git`, and a worktree of it. */
function newKind(kind: string): {
  readonly main: string;
  readonly worktree: string;
  readonly configFolder?: string;
} {
  const source = newRepository(area);
  const name = path.basename(source);
  if (kind === 'a submodule') {
    const top = newRepository(area);
    git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'sub/ünder');
    const main = path.join(top, 'sub', 'ünder');
    return { main, worktree: addWorktree(main, `agent of ${name}`), configFolder: main };
  }
  if (kind === 'a bare repository') {
    const main = path.join(area, `bare of ${name}.git`);
    git(area, 'clone', '--quiet', '--bare', source, main);
    return { main, worktree: addWorktree(main, `agent of ${name}`) };
  }
  const main = path.join(area, `apart ${name}`);
  git(area, 'clone', '--quiet', `--separate-git-dir=${main}.git`, source, main);
  return { main, worktree: addWorktree(main, `agent of ${name}`) };
}

function addWorktree(repository: string, name: string): string {
  const folder = path.join(area, 'trees', path.basename(repository), name);
  git(repository, 'worktree', 'add', '--quiet', '--detach', folder);
  return folder;
}

function agreesWithGit(folder: string): void {
  expect({ folder, commonDir: findRepository(folder)?.commonDir }).toEqual({
    folder,
    commonDir: gitCommonDir(folder),
  });
}

function gitCommonDir(folder: string): string | undefined {
  try {
    const answered = execFileSync('git', ['rev-parse', '--path-format=absolute', '--git-common-dir'], {
      cwd: folder,
      // The area may be inside a repository itself, for instance below a home directory that is one.
      env: { ...plainEnv, GIT_CEILING_DIRECTORIES: path.dirname(area) },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return realpathSync(answered.replace(/\n$/, ''));
  } catch {
    return undefined;
  }
}

function excludeLines(repository: string): string[] {
  const text = readFileSync(path.join(repository, '.git', 'info', 'exclude'), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

const excludeModule = pathToFileURL(
  fileURLToPath(new URL('../../../packages/copse/src/git/directory/exclude.ts', import.meta.url)),
).href;

/** A process that excludes in folder after folder, each at a moment that all such processes agree on. */
async function excludeInStep(folders: readonly string[]): Promise<void> {
  const script = `
    const { excludeFromGit } = await import(${JSON.stringify(excludeModule)});
    const [start, ...folders] = JSON.parse(process.argv[1]);
    for (const [index, folder] of folders.entries()) {
      while (process.hrtime.bigint() < BigInt(start) + BigInt(index) * 20_000_000n);
      excludeFromGit(folder, '/.copse/');
    }`;
  const argv = [
    '--input-type=module',
    '--eval',
    script,
    JSON.stringify([String(process.hrtime.bigint() + 700_000_000n), ...folders]),
  ];
  const { code, stderr } = await finished(spawn(process.execPath, argv, { env: plainEnv }));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}
