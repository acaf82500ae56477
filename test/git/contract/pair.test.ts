/** Two gits behind one shell. */

import { expect, test } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { GitFailed, tryGitPair } from '../../../packages/copse/src/git/process.ts';
import { newArea, newRepository } from '../../support/cli.ts';

const top = newRepository(newArea());
const repository = findRepository(top);
if (repository === undefined) throw new Error(`${top} is no repository`);
const dir = openTrustedDir(repository);
const pair = (one: readonly string[], other: readonly string[], timeoutMs?: number) =>
  tryGitPair(dir, [one, other], { workTree: top, ...(timeoutMs !== undefined && { timeoutMs }) });

test('get every word as it is, and print apart', async () => {
  const words = ['two words', '', "it's", '$(id) `id` $HOME \\', '*', '-x', 'a\nb', 'Größe 😀', '"', '${12}'];
  const quoted = words.map((word) => ` '${word.replaceAll("'", "'\\''")}'`).join('');
  const found = await pair(['rev-parse', '--sq-quote', ...words], ['rev-parse', '--sq-quote', 'other']);
  expect(found.code).toBe(0);
  expect(found.stderr).toBe('');
  expect(found.stdout.toString()).toBe(`${quoted}\n`);
  expect(found.second.toString()).toBe(" 'other'\n");
});

const fails = ['rev-parse', '--verify', 'refs/heads/none'];
const succeeds = ['rev-parse', '--verify', 'refs/heads/main'];

test.each([
  ['the first', fails, succeeds],
  ['the second', succeeds, fails],
  ['both', fails, fails],
])('fail when %s fails', async (_, one, other) => {
  const { code, stderr } = await pair(one, other);
  expect(code).not.toBe(0);
  expect(stderr).toContain('Needed a single revision');
});

/** Git runs an alias in a shell of its own. */
const alias = (command: string) => ['-c', `alias.own=!${command}`, 'own'];

test('both have the limit of memory', async () => {
  const { stdout, second } = await pair(alias('ulimit -d'), alias('ulimit -d'));
  expect(stdout.toString()).toMatch(/^\d+\n$/);
  expect(second.toString()).toBe(stdout.toString());
});

test('both are ended when they take too long', async () => {
  const ended = pair(alias('sleep 60'), alias('sleep 60'), 50);
  await expect(ended).rejects.toThrow(GitFailed);
  await expect(ended).rejects.toThrow('it took longer than 50 ms');
});
