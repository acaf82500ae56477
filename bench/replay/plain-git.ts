/** An ordinary git without personal settings, in a clone that borrows the objects of a repository. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

import type { Plain } from './judge.ts';

export interface Merge {
  readonly commit: string;
  readonly onto: string;
  readonly head: string;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

const MOST_OUTPUT_BYTES = 512 * 1024 ** 2;

export class PlainGit {
  readonly folder: string;
  readonly #checkout: string;

  private constructor(folder: string, checkout: string) {
    this.folder = folder;
    this.#checkout = checkout;
  }

  /** Nothing is ever written into the repository itself. */
  static clone(repository: string, area: string): PlainGit {
    const folder = path.join(area, 'clone.git');
    const argv = ['clone', '--quiet', '--shared', '--bare', path.resolve(repository), folder];
    const { code, error } = run(area, argv);
    if (code !== 0) throw new Error(`${repository} cannot be cloned: ${error}`);
    return new PlainGit(folder, path.join(area, 'checkout'));
  }

  /** Of two parents, newest first. */
  merges(from: string, { max, isFirstParent }: { readonly max: number; readonly isFirstParent: boolean }) {
    const choice = ['--min-parents=2', '--max-parents=2', `--max-count=${max}`];
    const argv = ['rev-list', '--parents', ...choice, ...(isFirstParent ? ['--first-parent'] : [])];
    return this.#must([...argv, from, '--'])
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Merge => {
        const [commit = '', onto = '', head = ''] = line.split(' ');
        return { commit, onto, head };
      });
  }

  treeOf(commit: string): string {
    return this.#must(['rev-parse', '--verify', `${commit}^{tree}`]).trim();
  }

  merge(onto: string, head: string): Plain {
    if (this.#hasMergeAttributes(onto)) return this.#mergeInCheckout(onto, head);
    const { code, out, error } = this.#run(['merge-tree', '--write-tree', '--no-messages', onto, head]);
    if (code === 0) return { is: 'merged', tree: out.trim() };
    if (code === 1) return { is: 'conflict' };
    if (error.includes('unrelated histories')) return { is: 'unrelated' };
    throw new Error(`git merge-tree ${onto} ${head}: ${error}`);
  }

  /** The tree that `git rebase` makes; undefined when it stops. */
  rebase(onto: string, head: string): string | undefined {
    this.#checkOut(head);
    const { code } = run(this.#checkout, ['rebase', '--quiet', onto]);
    if (code === 0) return must(this.#checkout, ['rev-parse', 'HEAD^{tree}']).trim();
    run(this.#checkout, ['rebase', '--abort']);
    return undefined;
  }

  /** Whether a merge among them is not what git makes of its parents, where it makes something. */
  hasEvilMerge(onto: string, head: string): boolean {
    const lines = this.#must(['rev-list', '--merges', '--parents', head, `^${onto}`, '--']).split('\n');
    return lines.some((line) => {
      const [commit, ours, theirs, ...more] = line.split(' ');
      if (commit === undefined || ours === undefined || theirs === undefined) return false;
      return more.length > 0 || !this.#isPlain(commit, ours, theirs);
    });
  }

  /** Where git has a conflict, the other files have to be as it left them. */
  #isPlain(commit: string, ours: string, theirs: string): boolean {
    const argv = ['merge-tree', '--write-tree', '--no-messages', '-z', '--name-only'];
    const { code, out } = this.#run([...argv, ours, theirs]);
    if (code > 1) return false;
    const [tree = '', ...files] = out.split('\0').filter((part) => part !== '');
    const inConflict = new Set(files);
    const differing = this.#must(['diff-tree', '-r', '-z', '--name-only', tree.trim(), commit]).split('\0');
    return differing.every((file) => file === '' || inConflict.has(file));
  }

  /** In a bare repository git reads none; what the target has counts in its checkout. */
  #hasMergeAttributes(onto: string): boolean {
    const argv = ['grep', '--quiet', '-E', '-e', 'merge|binary', onto, '--', ':(glob)**/.gitattributes'];
    return this.#run(argv).code === 0;
  }

  #mergeInCheckout(onto: string, head: string): Plain {
    this.#checkOut(onto);
    const { code, error } = run(this.#checkout, ['merge', '--quiet', '--no-ff', '--no-edit', head]);
    if (code === 0) return { is: 'merged', tree: must(this.#checkout, ['rev-parse', 'HEAD^{tree}']).trim() };
    if (error.includes('unrelated histories')) return { is: 'unrelated' };
    const { code: aborted } = run(this.#checkout, ['merge', '--abort']);
    if (aborted !== 0) throw new Error(`git merge of ${onto} and ${head}: ${error}`);
    return { is: 'conflict' };
  }

  #checkOut(commit: string): void {
    if (!existsSync(this.#checkout))
      this.#must(['worktree', 'add', '--quiet', '--detach', '--no-checkout', this.#checkout, commit]);
    must(this.#checkout, ['checkout', '--quiet', '--force', '--detach', commit]);
    must(this.#checkout, ['clean', '--quiet', '-ffdx']);
  }

  #run(argv: readonly string[]): Ran {
    return run(this.folder, argv);
  }

  #must(argv: readonly string[]): string {
    return must(this.folder, argv);
  }
}

const env = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Replay',
  GIT_AUTHOR_EMAIL: 'replay@example.invalid',
  GIT_COMMITTER_NAME: 'Replay',
  GIT_COMMITTER_EMAIL: 'replay@example.invalid',
};

function run(cwd: string, argv: readonly string[]): Ran {
  const options = { cwd, env, encoding: 'utf8', maxBuffer: MOST_OUTPUT_BYTES } as const;
  const { status, stdout, stderr, error } = spawnSync('git', argv, options);
  if (error !== undefined) throw error;
  return { code: status ?? 255, out: stdout, error: stderr };
}

function must(cwd: string, argv: readonly string[]): string {
  const { code, out, error } = run(cwd, argv);
  if (code !== 0) throw new Error(`git ${argv.join(' ')} ended with ${code}: ${error}`);
  return out;
}
