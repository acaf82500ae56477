/** A repository with a target and branches to land on it, and plain git to compare with. */

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { type MergingOptions, openMerging } from '../../../packages/copse/src/queue/merge/open.ts';
import type { TrustedDir } from '../../../packages/copse/src/git/process.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type CommitId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  Candidate,
  CandidateRequest,
  Merging,
} from '../../../packages/copse/src/queue/ports/merging.ts';
import { emptyRepository, git, plainEnv } from '../cli.ts';
import { closeAtEnd } from '../close-at-end.ts';
import { runGit } from '../git/git-shell.ts';

/** Null deletes a file. */
export type Files = Readonly<
  Record<string, string | Buffer | null | { readonly link: string } | { readonly program: string }>
>;

export interface CommitOptions {
  readonly message?: string | Buffer;
  readonly author?: string;
  readonly config?: readonly string[];
}

const LINES = Array.from({ length: 12 }, (_, at) => `line ${at}\n`);
/** Twelve lines, some of them other ones. */
export const text = (changes: Readonly<Record<number, string>> = {}) =>
  LINES.map((line, at) => changes[at] ?? line).join('');

export const BASE: Files = {
  'a.txt': text(),
  'b.txt': 'b\n',
  'dir/c.txt': text({ 3: 'c\n' }),
  'crlf.txt': text().replaceAll('\n', '\r\n'),
  bin: Buffer.from([0, 1, 2, 255, 0]),
  tool: '#!/bin/sh\n',
};

let scenes = 0;

export class MergeScene {
  readonly top: string;
  readonly dir: TrustedDir;
  readonly merging: Merging;
  /** Where commits are made, so that nobody's checkout of the target is involved. */
  readonly desk: string;

  constructor(
    area: string,
    { format = 'sha1', ...options }: MergingOptions & { readonly format?: string } = {},
  ) {
    scenes += 1;
    this.top = path.join(area, `mérge "${scenes}"`);
    if (format === 'sha1') cpSync(emptyRepository(), this.top, { recursive: true });
    else {
      mkdirSync(this.top);
      git(this.top, 'init', '--quiet', '--initial-branch=main', `--object-format=${format}`);
      git(this.top, 'commit', '--quiet', '--allow-empty', '--message=first');
    }
    this.desk = path.join(area, `desk ${scenes}`);
    git(this.top, 'worktree', 'add', '--quiet', '--detach', this.desk);
    git(this.top, 'switch', '--quiet', '--detach');
    this.dir = openTrustedDir(findRepository(this.top)!);
    const merging = openMerging(this.dir, options);
    closeAtEnd(() => merging.close());
    this.merging = merging;
  }

  tip(branch: string): CommitId {
    return brand(git(this.top, 'rev-parse', '--verify', branch));
  }

  tree(commit: string): string {
    return git(this.top, 'rev-parse', `${commit}^{tree}`);
  }

  /** Commits on a branch, which begins at main if it is new. */
  commit(branch: string, files: Files, { message, author, config = [] }: CommitOptions = {}): CommitId {
    const { status } = runGit({ cwd: this.top, argv: ['rev-parse', '--verify', `refs/heads/${branch}`] });
    this.#goTo(status === 0 ? branch : 'main');
    putFiles(this.desk, files);
    git(this.desk, 'add', '--all');
    const committed = runGit({
      cwd: this.desk,
      argv: [
        ...config.flatMap((setting) => ['-c', setting]),
        'commit',
        '--quiet',
        '--allow-empty',
        '--allow-empty-message',
        '--cleanup=verbatim',
        ...(author === undefined ? [] : [`--author=${author}`]),
        '--file=-',
      ],
      env: this.#later(),
      input: message ?? `${branch}: ${Object.keys(files).join()}\n`,
    });
    if (committed.status !== 0) throw new Error(committed.stderr);
    git(this.desk, 'update-ref', `refs/heads/${branch}`, 'HEAD');
    return this.tip(branch);
  }

  /** Merges into the branch as an agent would; what it does about conflicts is its business. */
  mergeInto(branch: string, other: string, argv: readonly string[] = [], resolve: Files = {}): CommitId {
    this.#goTo(branch);
    runGit({ cwd: this.desk, argv: ['merge', '--no-ff', '--no-commit', '--quiet', ...argv, other] });
    putFiles(this.desk, resolve);
    git(this.desk, 'add', '--all');
    git(this.desk, 'commit', '--quiet', '--allow-empty', `--message=Merge ${other}`);
    git(this.desk, 'update-ref', `refs/heads/${branch}`, 'HEAD');
    return this.tip(branch);
  }

  /** Git would do nothing where the desk is already. */
  #goTo(branch: string): void {
    if (git(this.desk, 'rev-parse', 'HEAD') !== this.tip(branch))
      git(this.desk, 'checkout', '--quiet', '--detach', branch);
  }

  /** Where plain git finds it, too. */
  async build(branch: string, options: Partial<CandidateRequest> = {}): Promise<Candidate> {
    const candidate = await this.merging.build(this.request(branch, options));
    if (candidate.kind === 'built') await this.merging.bring(candidate.commit);
    return candidate;
  }

  request(branch: string, options: Partial<CandidateRequest> = {}): CandidateRequest {
    return {
      task: brand('cp-0001'),
      title: 'Räume auf',
      plan: null,
      branch: brand(branch),
      target: brand('main'),
      onto: this.tip('main'),
      head: this.tip(branch),
      method: 'rebase',
      at: timestamp(1_700_000_000_000),
      ...options,
    };
  }

  /** What plain git makes of it in a checkout: the tip, or undefined for a conflict. */
  plainly(command: 'rebase' | 'merge', branch: string): CommitId | undefined {
    const [at, ...argv] =
      command === 'rebase'
        ? [branch, 'rebase', '--quiet', 'main']
        : ['main', 'merge', '--no-ff', '--quiet', branch];
    git(this.desk, 'checkout', '--quiet', '--force', '--detach', at);
    const { status } = runGit({ cwd: this.desk, argv });
    const tip = git(this.desk, 'rev-parse', 'HEAD');
    if (status === 0) return brand(tip);
    git(this.desk, command, '--abort');
    return undefined;
  }

  /** Everything of the commits since main that a rebase has to keep, oldest first. */
  history(tip: string): readonly string[] {
    const format = '%T%n%an <%ae>%n%ad%n%B%x00';
    const text = git(this.top, 'log', '--reverse', '--date=raw', `--format=${format}`, `main..${tip}`, '--');
    return text
      .split('\0')
      .map((part) => part.trim())
      .slice(0, -1);
  }

  objects(): readonly string[] {
    return git(this.top, 'cat-file', '--batch-all-objects', '--batch-check').split('\n');
  }

  /** Each commit a minute after the one before, so that orders by time are orders. */
  #minutes = 0;
  #later(): Readonly<Record<string, string>> {
    this.#minutes += 1;
    const date = `${1_600_000_000 + this.#minutes * 60} +0200`;
    return { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  }
}

export function putFiles(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    rmSync(file, { recursive: true, force: true });
    if (content === null) continue;
    mkdirSync(path.dirname(file), { recursive: true });
    if (typeof content === 'string' || Buffer.isBuffer(content)) writeFileSync(file, content);
    else if ('link' in content) symlinkSync(content.link, file);
    else {
      writeFileSync(file, content.program);
      chmodSync(file, 0o755);
    }
  }
}

/** By git itself. */
export function interpretTrailers(message: string, ...trailers: readonly string[]): string {
  const argv = trailers.flatMap((trailer) => ['--trailer', trailer]);
  const options = ['--no-divider', '--if-exists', 'addIfDifferent', ...argv];
  return execFileSync('git', ['interpret-trailers', ...options], {
    input: message,
    env: plainEnv,
    encoding: 'utf8',
  });
}
