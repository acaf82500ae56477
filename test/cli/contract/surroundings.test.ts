/** Terminals, outputs and folders as they should not be: each is told in a sentence, and nothing is drawn at no width. */

import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { cliFile, copse, git, newArea, newRepository, newTasks, plainEnv } from '../../support/cli.ts';
import { expectPasteable } from '../../support/pasted.ts';

const area = newArea();

test('a terminal that tells no size counts as one of 80 × 24', async () => {
  const cwd = newRepository(area);
  await newTasks(['One of the usual length'], { cwd });
  for (const argv of [['status'], ['list']]) {
    const unknown = await copse(argv, { cwd, terminal: { columns: 0, rows: 0 } });
    const usual = await copse(argv, { cwd, terminal: { columns: 80, rows: 24 } });
    expect(unknown.stdout.replaceAll(/\d+s/g, '')).toBe(usual.stdout.replaceAll(/\d+s/g, ''));
  }
});

test.skipIf(process.platform !== 'linux')('an output that is full is said in a sentence', () => {
  const cwd = newRepository(area);
  const line = '"$0" "$1" help all > /dev/full';
  const { status, stderr } = spawnSync('sh', ['-c', line, process.execPath, cliFile], { cwd, env: plainEnv });
  expect({ status, stderr: stderr.toString() }).toEqual({
    status: 1,
    stderr: 'copse: The output cannot be written (ENOSPC).\n',
  });
});

describe('.copse that is no folder', () => {
  test.each([
    ['a file', (file: string) => writeFileSync(file, '')],
    ['a named pipe', (file: string) => execFileSync('mkfifo', [file])],
    ['a link to a device', (file: string) => symlinkSync('/dev/zero', file)],
  ])('%s', async (_, make) => {
    const cwd = newRepository(area);
    make(path.join(cwd, '.copse'));
    for (const argv of [['status'], ['add', 'x'], ['list'], ['inbox']]) {
      const { code, stderr } = await copse(argv, { cwd });
      expect({ argv, code, stderr }).toEqual({
        argv,
        code: 1,
        stderr: `copse: ${cwd}/.copse is not a folder, and Copse keeps its board there.\n    After you move it away:\n  → copse status\n`,
      });
    }
    const { code, stdout } = await copse(['doctor'], { cwd });
    expect({ code, stdout }).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('✗ repository') as string,
    });
  });
});

describe('copse doctor', () => {
  test('names a damaged copse.yml once, under settings', async () => {
    const cwd = newRepository(area);
    writeFileSync(path.join(cwd, 'copse.yml'), 'agents: [\n  x: {\n');
    const { code, stdout } = await copse(['doctor'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain('✗ settings   copse.yml:3:1: a mapping that begins with { is not closed with }');
    expect(stdout.match(/begins with {/g)).toHaveLength(1);
    expect(stdout).not.toMatch(/^copse\.yml/m);
    expect(stdout).not.toContain('✓ board');
  });

  test('tells what works in a bare repository without a commit', async () => {
    const cwd = path.join(area, 'bare');
    git(area, 'init', '--quiet', '--bare', cwd);
    const { stdout } = await copse(['doctor'], { cwd });
    expect(stdout).toContain('the repository has no commit');
    expect(stdout).not.toContain('git commit');
    await expectPasteable([stdout]);
  });
});
