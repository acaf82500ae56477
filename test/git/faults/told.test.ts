/** What is damaged is told as a sentence with the next command, never as a surprise with a stack. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeEach, expect, inject, it } from 'vitest';

import { type Finished, copse, git, newArea, newRepository, newTasks, plainEnv } from '../../support/cli.ts';

const area = newArea();
let top: string;
let task: string;
let worktree: string;

beforeEach(async () => {
  top = newRepository(area);
  [{ id: task }] = await newTasks(['damaged'], { cwd: top });
  await copse(['work', task], { cwd: top, env: { COPSE_BACKGROUND: '0' } });
  worktree = path.join(top, '.worktrees', task);
});

async function endOf(...commands: readonly (readonly string[])[]): Promise<readonly Finished[]> {
  const ends: Finished[] = [];
  for (const argv of commands) ends.push(await copse(argv, { cwd: top }));
  return ends;
}

const surprises = (ends: readonly Finished[]) =>
  ends.filter(({ stderr }) => /Unexpected error|^\s+at /m.test(stderr));

it('a file name that is empty', async () => {
  const blob = git(worktree, 'hash-object', '-w', '--stdin');
  const entry = Buffer.concat([Buffer.from('100644 \0'), Buffer.from(blob, 'hex')]);
  const argv = ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'];
  const options = { cwd: worktree, input: entry, env: plainEnv, encoding: 'utf8' } as const;
  const tree = execFileSync('git', argv, options).trim();
  git(worktree, 'update-ref', 'HEAD', git(worktree, 'commit-tree', tree, '-p', 'HEAD', '-m', 'feat: x'));
  const ends = await endOf(
    ['worktrees'],
    ['diff', task],
    ['finish', task],
    ['radar'],
    ['cleanup', task, '--force'],
  );
  expect(surprises(ends)).toEqual([]);
});

it('a file whose content is missing', async () => {
  writeFileSync(path.join(worktree, 'new.txt'), 'new\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: x');
  const blob = git(worktree, 'rev-parse', 'HEAD:new.txt');
  rmSync(path.join(top, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
  const ends = await endOf(['worktrees'], ['diff', task], ['finish', task], ['merge', task]);
  expect(surprises(ends)).toEqual([]);
});

it('a .git that is a pipe, to a person who is in the worktree', async () => {
  rmSync(path.join(worktree, '.git'));
  execFileSync('mkfifo', [path.join(worktree, '.git')]);
  mkdirSync(path.join(worktree, 'sub'));
  for (const cwd of [worktree, path.join(worktree, 'sub')]) {
    const { code, stderr } = await copse(['list'], { cwd });
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/\.git does not name a git directory/) as string,
    });
  }
});

it.each(['pg_catalog', 'information_schema', 'pg_temp'])('a board in the schema %s', async (schema) => {
  const env = { COPSE_BOARD: `${inject('postgresUrl')}?schema=${schema}` };
  const { code, stderr } = await copse(['list'], { cwd: top, env });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('belongs to PostgreSQL itself') as string,
  });
});
