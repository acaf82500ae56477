/** Makes a repository with one commit, and draws its history later. */

import { execFile } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import { type Repository, findRepository } from './locate.ts';
import { git, gitLine } from '../process.ts';
import { absolutePath } from './trusted-config.ts';
import { openTrustedDir } from './trusted-dir.ts';

export interface NewRepository {
  /** Empty. */
  readonly folder: string;
  readonly branch: BranchName;
  readonly files: Readonly<Record<string, string>>;
  /** For its configuration. */
  readonly settings: Readonly<Record<string, string>>;
  readonly author: { readonly name: string; readonly email: string };
  readonly message: string;
}

export async function makeRepository(request: NewRepository): Promise<CommitId> {
  const { folder, branch, files, author, message } = request;
  await init(request);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  }
  const { commonDir } = requireRepository(folder);
  const dir = openTrustedDir(requireRepository(folder));
  const index = path.join(commonDir, 'index');
  await git(dir, ['add', '--', ...Object.keys(files)], { workTree: folder, index });
  const tree = await gitLine(dir, ['write-tree'], { index });
  const env = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
  const commit = await gitLine(dir, ['commit-tree', tree, '-m', message], { env });
  await git(dir, ['update-ref', '-m', message, `refs/heads/${branch}`, commit, ''], { env });
  return commit as CommitId;
}

/** `git log --graph`, the newest commit first. */
export async function drawHistory(folder: string, branch: BranchName): Promise<readonly string[]> {
  const dir = openTrustedDir(requireRepository(folder));
  const format = '--format=%h %s (%an)';
  const text = await git(dir, ['log', '--graph', '--no-color', format, `refs/heads/${branch}`, '--']);
  return text.toString().trimEnd().split('\n');
}

/** Ignores the machine's configuration: no template, no hooks, no other default branch. */
async function init({ folder, branch, settings }: NewRepository): Promise<void> {
  const env = {
    PATH: absolutePath(process.env['PATH']),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    LC_ALL: 'C',
  };
  const argv = ['init', '--quiet', '--template=', `--initial-branch=${branch}`];
  await promisify(execFile)('git', argv, { cwd: folder, env });
  const lines = Object.entries(settings).map(([name, value]) => {
    const [section = '', key = ''] = name.split('.');
    return `[${section}]\n\t${key} = ${JSON.stringify(value)}\n`;
  });
  appendFileSync(path.join(folder, '.git', 'config'), lines.join(''));
}

function requireRepository(folder: string): Repository {
  const repository = findRepository(folder);
  if (repository === undefined) throw new Error(`git init succeeded, but ${folder} is not a repository`);
  return repository;
}
