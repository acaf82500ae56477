/**
 * A named pipe in the place of a file: whoever opens it waits until a program writes to it, which never happens. An agent
 * can put one wherever it can write. No command waits for it, and the tasks of others go on.
 */

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { beforeAll, describe, expect, it } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { tryGit } from '../../../packages/copse/src/git/process.ts';
import { isOpeningPipe } from '../../../packages/copse/src/git/run/pipes.ts';
import { isLong } from '../../support/long.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';
import { answer, copse, git, newArea, newTasks, plainEnv } from '../../support/cli.ts';
import type { CommandEnd } from '../../support/commands-worker.ts';

const area = newArea();
const folder = path.join(area, 'repo');
const kept = path.join(area, 'kept');
const worker = bundleWorker(new URL('../../support/commands-worker.ts', import.meta.url));

let hostile: string;
let honest: string;

beforeAll(async () => {
  mkdirSync(folder);
  git(folder, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(path.join(folder, 'code.txt'), 'one\n');
  writeFileSync(path.join(folder, '.gitignore'), '/ignored/\n');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message=first');
  const tasks = await newTasks(['hostile', 'honest'], { cwd: folder });
  [hostile, honest] = [tasks[0].id, tasks[1].id];
  for (const { id } of tasks) {
    await copse(['work', id], { cwd: folder, env: { COPSE_BACKGROUND: '0' } });
    const worktree = worktreeOf(id);
    writeFileSync(path.join(worktree, `${id}.txt`), 'new\n');
    git(worktree, 'add', '--all');
    git(worktree, 'commit', '--quiet', `--message=feat: ${id}`);
    writeFileSync(path.join(worktree, 'uncommitted.txt'), 'new\n');
  }
  rmSync(path.join(worktreeOf(honest), 'uncommitted.txt'));
  await answer(['list'], { cwd: folder });
  renameSync(folder, kept);
});

const worktreeOf = (id: string) => path.join(folder, '.worktrees', id);
const own = (file: string) => () => path.join(folder, '.git', 'worktrees', hostile, file);
const inWorktree = (file: string) => () => path.join(worktreeOf(hostile), file);
const shared = (file: string) => () => path.join(folder, '.git', file);
const branch = (prefix: string) => () =>
  path.join(folder, '.git', prefix, git(worktreeOf(hostile), 'branch', '--show-current'));

const PATIENCE_MS = 150_000;

/** Where an agent can put one, and whether the task of the agent can still be worked with. */
const places: Readonly<Record<string, () => string>> = {
  '.git of its worktree': inWorktree('.git'),
  '.gitignore': inWorktree('.gitignore'),
  '.gitignore of a folder': inWorktree('sub/.gitignore'),
  '.gitattributes': inWorktree('.gitattributes'),
  '.gitmodules': inWorktree('.gitmodules'),
  'its report': inWorktree('.copse/session.json'),
  'AGENT_CONTEXT.md': inWorktree('AGENT_CONTEXT.md'),
  'a file of its own': inWorktree('code.txt'),
  'its HEAD': own('HEAD'),
  'its index': own('index'),
  'its gitdir': own('gitdir'),
  'its commondir': own('commondir'),
  'its reflog': own('logs/HEAD'),
  'its MERGE_HEAD': own('MERGE_HEAD'),
  'its ORIG_HEAD': own('ORIG_HEAD'),
  'the name of a rebase': own('rebase-merge/head-name'),
  'a part of its index': own('sharedindex.0123456789012345678901234567890123456789'),
  'its branch': branch('refs/heads'),
  'the reflog of its branch': branch('logs/refs/heads'),
  'another ref': shared('refs/heads/waits'),
  'packed-refs': shared('packed-refs'),
  'info/exclude': shared('info/exclude'),
  'the list of other object folders': shared('objects/info/alternates'),
  'the index of a pack': shared('objects/pack/pack-0123456789012345678901234567890123456789.idx'),
  shallow: shared('shallow'),
  'the HEAD of the remote': shared('refs/remotes/origin/HEAD'),
};

describe('a named pipe in the place of', () => {
  // promise: pipes-block-no-command
  it.each(Object.entries(places).filter((_, at) => isLong || at % 5 === 0))(
    '%s stops no command, and nobody else',
    async (_, place) => {
      rmSync(folder, { recursive: true, force: true });
      cpSync(kept, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
      const file = place();
      rmSync(file, { recursive: true, force: true });
      mkdirSync(path.dirname(file), { recursive: true });
      execFileSync('mkfifo', [file]);
      const others = [
        ['list'],
        ['worktrees'],
        ['why', honest],
        ['diff', honest],
        ['radar'],
        ['finish', honest],
        ['merge', honest],
      ];
      const own = [
        ['why', hostile],
        ['diff', hostile],
        ['rescue', 'list'],
        ['cleanup', hostile, '--force'],
      ];
      const ends = await run([...others, ...own]);
      expect(ends.map(({ command }) => command)).toEqual([...others, ...own].map((argv) => argv.join(' ')));
      expect(ends.slice(0, others.length).filter(({ code }) => code !== 0)).toEqual([]);
      expect(ends.filter(({ said }) => /should not have happened|^\s+at /m.test(said))).toEqual([]);
    },
  );
});

describe.runIf(process.platform === 'linux')('a program that waits for a named pipe already', () => {
  const top = path.join(area, 'waited for');
  const dir = () => openTrustedDir(findRepository(top) ?? expect.fail('no repository'));

  beforeAll(() => {
    mkdirSync(top);
    git(top, 'init', '--quiet', '--initial-branch=main');
    git(top, 'commit', '--quiet', '--allow-empty', '--message=first');
  });

  const isWaiting = async (pid: number | undefined) => {
    await until(() => isOpeningPipe(pid ?? 0));
  };

  // promise: pipes-block-no-command
  it.each(['packed-refs', 'refs/heads/waits'])('goes on when Copse removes %s', async (name) => {
    const pipe = path.join(top, '.git', name);
    execFileSync('mkfifo', [pipe]);
    const plain = spawn('git', ['for-each-ref'], { cwd: top, env: plainEnv, stdio: 'ignore' });
    const ended = new Promise((resolve) => plain.once('exit', resolve));
    try {
      await isWaiting(plain.pid);
      await tryGit(dir(), ['for-each-ref']);
      expect(existsSync(pipe)).toBe(false);
      await until(() => plain.exitCode !== null);
    } finally {
      plain.kill('SIGKILL');
      await ended;
    }
  });

  it('is started again when it is git of Copse and another process removed the pipe', async () => {
    const pipe = path.join(top, '.git', 'refs', 'heads', 'waits');
    execFileSync('mkfifo', [pipe]);
    const listed = git(top, 'rev-parse', 'main');
    const asked = tryGit(dir(), [
      'for-each-ref',
      '--format=%(objectname)',
      'refs/heads/main',
      'refs/heads/waits',
    ]);
    await isWaiting(process.pid);
    rmSync(pipe);
    expect((await asked).stdout.toString().trim()).toBe(listed);
  });
});

/** At most as long as the time limit of one command. */
async function until(what: () => boolean): Promise<void> {
  const late = performance.now() + PATIENCE_MS;
  while (!what()) {
    if (performance.now() > late) throw new Error('It has not come about in time');
    await sleep(20);
  }
}

async function run(commands: readonly (readonly string[])[]): Promise<readonly CommandEnd[]> {
  const env = { ...plainEnv, ...worker.env, COPSE_BACKGROUND: '0' };
  const child = spawn(process.execPath, [worker.file, folder, JSON.stringify(commands)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const limit = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), PATIENCE_MS);
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(limit);
  return said
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as CommandEnd);
}
