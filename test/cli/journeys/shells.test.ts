/** `copse switch`, `shell-init` and `completion` in real shells, with folders and titles that a shell could misread. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import {
  answer,
  cliFile,
  copse,
  git,
  newArea,
  newRepository,
  newTasks,
  plainEnv,
  printed,
} from '../../support/cli.ts';
import { CONTROL_C, hasScript, onTerminal } from '../../support/terminal.ts';

const area = newArea();
const HOSTILE = `tick\` $(touch pwned) \${HOME} "double" 'single' ; touch pwned & %s * \\`;
let folder: string;
let [id, other] = ['', ''];
let worktree: string;
let bin: string;

beforeAll(async () => {
  // The name of the folder is part of the path that `cd` gets.
  const plain = newRepository(area);
  folder = path.join(area, `it's "odd" $(touch pwned) \`x\` ; ü 林`);
  git(area, 'clone', '--quiet', plain, folder);
  const [one, two] = await newTasks([HOSTILE, 'Größe'], { cwd: folder });
  [id, other] = [one.id, two.id];
  worktree = (await answer<{ worktree: string }>(['work', id], { cwd: folder })).worktree;
  bin = path.join(area, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'copse'), '#!/bin/sh\nexec "$NODE" "$CLI" "$@"\n', { mode: 0o755 });
  symlinkSync(process.execPath, path.join(bin, 'node-under-test'));
});

function inShell(shell: string, script: string, cwd = folder) {
  const words =
    shell === 'zsh' ? ['-f', '-c', script] : shell === 'bash' ? ['--norc', '-c', script] : ['-c', script];
  const env = {
    ...plainEnv,
    NODE: process.execPath,
    CLI: cliFile,
    HOME: area,
    // Without it, fish misreads the names of folders.
    LC_ALL: 'C.UTF-8',
    PATH: `${bin}:${process.env['PATH']}`,
  };
  return spawnSync(shell, words, { cwd, env, encoding: 'utf8' });
}

const shells = ['bash', 'zsh', 'fish'].filter((shell) => spawnSync(shell, ['--version']).error === undefined);

describe.each(shells)('in %s', (shell) => {
  const load = (what: string) =>
    shell === 'fish' ? `command copse ${what} fish | source; ` : `eval "$(command copse ${what} ${shell})"; `;

  // promise: shell-safe
  test('copse switch changes the folder with the function, which can be read twice', () => {
    const { status, stdout, stderr } = inShell(
      shell,
      `${load('shell-init')}${load('shell-init')}copse switch ${id}; pwd`,
    );
    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: `${worktree}\n` });
    for (const place of [folder, worktree, area]) expect(existsSync(path.join(place, 'pwned'))).toBe(false);
  });

  test('a failure leaves the folder, and other commands go to the program', () => {
    const { stdout, stderr } = inShell(shell, `${load('shell-init')}copse switch zzzz; pwd; copse --version`);
    expect(stdout).toMatch(/^.*林\n\d+\.\d+\.\d+\n$/);
    expect(stderr).toContain('The board has no task "zzzz".');
    const helped = inShell(shell, `${load('shell-init')}copse switch --help`);
    expect(helped.stdout).toContain('Usage: copse switch');
  });

  test('the completion can be read twice and runs nothing', () => {
    const { status, stderr } = inShell(shell, `${load('completion')}${load('completion')}`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

// promise: shell-safe
test.skipIf(!shells.includes('bash'))('bash completes ids with titles, and expands nothing in them', () => {
  const complete = (words: string, type = 63) => `COMP_TYPE=${type}; eval "$(command copse completion bash)"
COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _copse_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const both = inShell('bash', complete(`copse show ''`));
  expect(both.stdout.split('\n').filter(Boolean).toSorted()).toEqual(
    [`${id}  (${HOSTILE.slice(0, 59)}…)`, `${other}  (Größe)`].toSorted(),
  );
  // Tab, menu-complete and insert-completions put the words on the command line.
  for (const type of [9, 37, 42])
    expect(inShell('bash', complete(`copse show ''`, type)).stdout.split('\n').toSorted()).toEqual(
      ['', id, other].toSorted(),
    );
  expect(inShell('bash', complete(`copse show ${id}`)).stdout).toBe(`${id}\n`);
  // What is typed reaches the program as a word.
  inShell('bash', complete(`copse show '$(touch pwned)'`));
  for (const place of [folder, worktree, area]) expect(existsSync(path.join(place, 'pwned'))).toBe(false);
});

test.skipIf(!shells.includes('fish'))('fish completes ids with titles', () => {
  const { stdout } = inShell('fish', `command copse completion fish | source; complete -C 'copse show '`);
  expect(stdout).toContain(`${other}\tGröße\n`);
  expect(existsSync(path.join(folder, 'pwned'))).toBe(false);
});

describe('copse switch without the function', () => {
  test('prints the folder alone, also of the main checkout', async () => {
    expect(await printed(['switch', id], { cwd: folder })).toBe(`${worktree}\n`);
    expect(await printed(['switch', 'main'], { cwd: worktree })).toBe(`${folder}\n`);
  });

  test('explains what it needs', async () => {
    expect(await copse(['switch'], { cwd: folder })).toMatchObject({ code: 2, stdout: '' });
    expect(await copse(['switch', other], { cwd: folder })).toMatchObject({
      code: 3,
      stderr: `copse: ${other} has no worktree on this machine.\n  → copse work ${other}\n`,
    });
    const [over] = await newTasks(['Over'], { cwd: folder });
    await printed(['cancel', over.id], { cwd: folder });
    expect((await copse(['switch', over.id], { cwd: folder })).stderr).toBe(
      `copse: ${over.id} is cancelled and has no worktree on this machine.\n  → copse why ${over.id}\n`,
    );
  });

  test.skipIf(!hasScript)('lets a person choose, and says how to get the function', async () => {
    const screen = await onTerminal(['switch'], folder, [['Which worktree?', '\r']]);
    expect(screen).toContain(worktree);
    expect(screen).toContain('copse shell-init --help');
  });
});

describe('completion', () => {
  const candidates = async (words: readonly string[], cwd = folder) =>
    (await printed(['complete', '--', ...words], { cwd })).split('\n').map((line) => line.split('\t')[0]);

  test('knows commands, their commands, options, ids, plans and shells', async () => {
    expect(await candidates(['sh'])).toEqual(['show', 'shell-init', '']);
    expect(await candidates(['plan', ''])).toEqual(['add', 'show', 'list', '']);
    expect(await candidates(['list', '--st'])).toEqual(['--status', '']);
    expect(await candidates(['ledger', 'list', '--task', ''])).toContain(id);
    expect(await candidates(['delete', id, ''])).toContain(other);
    expect(await candidates(['completion', ''])).toEqual(['bash', 'zsh', 'fish', '']);
    expect(await candidates(['hook', ''])).toEqual(['']);
    expect(await candidates(['show', ''], area)).toEqual(['']);
  });
});

describe.skipIf(!hasScript)('long work on a terminal', () => {
  test('shows that it goes on, and Ctrl+C says how to complete it', async () => {
    const cwd = newRepository(area);
    writeFileSync(path.join(cwd, 'copse.yml'), 'workspace:\n  setup: sleep 60\n');
    git(cwd, 'add', '--all');
    git(cwd, 'commit', '--quiet', '--message=chore: settings');
    const [task] = await newTasks(['Slow'], { cwd });
    const screen = await onTerminal(['work', task.id], cwd, [
      [`Creating the worktree of ${task.id} …`, CONTROL_C],
      ['Stopped.', ''],
    ]);
    expect(screen).toContain(`To complete the worktree: copse work ${task.id}`);
    expect((await copse(['work', task.id], { cwd })).stderr).toContain(`copse work ${task.id} --resume`);
  });
});
