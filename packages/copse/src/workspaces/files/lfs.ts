/**
 * Git LFS. A checkout through the filters of the person's global configuration has the files already. Filters that are
 * set up in the repository alone are not in force for Copse, because an agent could have written them; then the pointers
 * are turned into files with filters that are named here. Where there are none, the person is told what to do.
 */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lutimes, open } from 'node:fs/promises';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import type { Checkout } from '../ports/furnishing.ts';
import { git, tryGit, type TrustedDir } from '../../git/process.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';

const POINTER = 'version https://git-lfs.github.com/spec/v1\n';
const MAX_POINTER_BYTES = 1024;
const TIMEOUT_MS = defaultPolicy.fetched.largeFileMs;

const FILTERS = [
  ['filter.lfs.smudge', 'git-lfs smudge -- %f'],
  ['filter.lfs.clean', 'git-lfs clean -- %f'],
  ['filter.lfs.process', 'git-lfs filter-process'],
  ['filter.lfs.required', 'true'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`]);

export async function largeFiles(
  dir: TrustedDir,
  target: Checkout,
  { isFresh }: { readonly isFresh: boolean },
): Promise<readonly string[]> {
  if (!mayUseLfs(dir, target)) return [];
  const pointers = await pointersIn(dir, target);
  if (pointers.length === 0) return [];
  const files =
    pointers.length === 1 ? '1 file is a Git LFS pointer' : `${pointers.length} files are Git LFS pointers`;
  const where = `in ${target.folder}: git lfs pull`;
  if (!(await isInstalled())) return [`${files}: install git-lfs, then ${where}`];
  // To a git without the filters the files would be changes, and an agent would commit them as they are.
  if (!(await isSetUp(dir))) return [`${files}: git lfs install, then ${where}`];
  // Only pointers that git just wrote are replaced: one may have changed since.
  if (!isFresh) return [`${files}: ${where}`];
  const stderr = await smudge(dir, target, pointers);
  const left = await pointersIn(dir, target);
  if (left.length === 0) return [];
  return [
    `${files} and could not be fetched (${stderr.trim().split('\n').at(-1) ?? ''}). To try again, ${where}`,
  ];
}

/** Writes the files through the filter, and as they were where that fails. */
async function smudge(dir: TrustedDir, target: Checkout, files: readonly string[]): Promise<string> {
  const checkout = ['checkout-index', '--force', '--index', '-z', '--stdin'];
  const options = {
    workTree: target.folder,
    index: path.join(target.gitDir, 'index'),
    input: files.map((file) => `${file}\0`).join(''),
  };
  // Git leaves a file alone that looks as it wrote it.
  const long = new Date(0);
  for (const file of files) await lutimes(path.join(target.folder, file), long, long);
  const { code, stderr } = await tryGit(dir, [...FILTERS, ...checkout], {
    ...options,
    isNetwork: true,
    timeoutMs: TIMEOUT_MS,
  });
  if (code === 0) return stderr;
  const missing = files.filter((file) => !existsSync(path.join(target.folder, file)));
  const input = missing.map((file) => `${file}\0`).join('');
  await git(dir, [...NO_FILTERS, ...checkout], { ...options, input });
  return stderr;
}

const NO_FILTERS = ['smudge', 'clean', 'process']
  .flatMap((name) => ['-c', `filter.lfs.${name}=`])
  .concat('-c', 'filter.lfs.required=false');

/** Cheap, because most repositories do not: attributes at the root, or objects of LFS that are here already. */
function mayUseLfs(dir: TrustedDir, target: Checkout): boolean {
  const attributes = path.join(target.folder, '.gitattributes');
  return (
    existsSync(path.join(dir.commonDir, 'lfs', 'objects')) ||
    readIfPlain(attributes)?.includes('filter=lfs') === true
  );
}

async function pointersIn(dir: TrustedDir, target: Checkout): Promise<readonly string[]> {
  const listed = await git(dir, ['ls-files', '-z', '--', ':(attr:filter=lfs)'], {
    workTree: target.folder,
    index: path.join(target.gitDir, 'index'),
    env: { GIT_LITERAL_PATHSPECS: '0' },
  });
  const pointers: string[] = [];
  for (const file of listed.toString().split('\0')) {
    if (file !== '' && (await isPointer(path.join(target.folder, file)))) pointers.push(file);
  }
  return pointers;
}

async function isPointer(file: string): Promise<boolean> {
  const found = await open(file, 'r').catch(() => undefined);
  if (found === undefined) return false;
  try {
    const { size } = await found.stat();
    if (size > MAX_POINTER_BYTES || size < POINTER.length) return false;
    const { buffer } = await found.read(Buffer.alloc(POINTER.length), 0, POINTER.length, 0);
    return buffer.toString() === POINTER;
  } finally {
    await found.close();
  }
}

/** Set up by `git lfs install --local`; a global set-up is already in force. */
async function isSetUp(dir: TrustedDir): Promise<boolean> {
  const file = path.join(dir.commonDir, 'config');
  const { code } = await tryGit(dir, ['config', '--file', file, '--get-all', 'filter.lfs.clean']);
  return code === 0;
}

function isInstalled(): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('git-lfs', ['version'], (error) => resolve(error === null));
  });
}
