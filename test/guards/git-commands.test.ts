/**
 * INVARIANTS 5, 9 and 27 over the sources: the commands that lose work silently, or that clean up what belongs to others,
 * are not there to be run by mistake. Whatever removes a worktree goes through the trash.
 */

import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';

import { projectRoot } from './working-copy.ts';

interface Rule {
  readonly rule: string;
  readonly forbidden: RegExp;
  readonly violations: readonly string[];
  readonly allowed: readonly string[];
}

const word = (words: string) => new RegExp(`["'\`](${words})["'\`]`);

const RULES: readonly Rule[] = [
  {
    rule: 'no git command removes, moves, prunes or unlocks worktrees',
    forbidden: /["'`]worktree["'`]\s*,\s*["'`](remove|prune|move|unlock|add)["'`]/,
    violations: ["git(dir, ['worktree', 'remove', path])", 'run("worktree", "prune")'],
    allowed: ["git(dir, ['worktree', 'list'])", 'const worktree = remove(path)'],
  },
  {
    rule: 'nothing runs gc, prune, repack or maintenance',
    forbidden: /\[\s*["'`](gc|prune|prune-packed|repack|maintenance|reflog|filter-branch)["'`]/,
    violations: ["git(dir, ['gc'])", "git(dir, ['prune', '--now'])", "git(dir, ['reflog', 'expire'])"],
    allowed: ["line('gc.auto', '0')", "['--no-prune']", 'prune(list)'],
  },
  {
    rule: 'no git command that throws work away is used: reset, clean, stash, checkout, switch, branch',
    forbidden:
      /\[\s*["'`](reset|clean|stash|checkout|switch|restore|rm)["'`]\s*[,\]]|["'`]branch["'`]\s*,\s*["'`]-/,
    violations: [
      "git(dir, ['reset', '--hard'])",
      "git(dir, ['clean', '-fdx'])",
      "git(dir, ['branch', '-D', x])",
    ],
    allowed: ["['checkout-index', '--all']", "type: 'reset'"],
  },
  {
    rule: 'nothing is forced',
    forbidden: word('--force|-f|--hard|-D|--force-with-lease'),
    violations: ["['push', '--force']", "['branch', '-D']", "['reset', '--hard']"],
    allowed: ["['update-index', '--force-remove']", '{ recursive: true, force: true }'],
  },
  {
    rule: 'no string reaches a shell',
    forbidden: /\bshell:\s*true\b|(?<![.\w])exec(Sync)?\(/,
    violations: ['spawn(command, { shell: true })', 'exec(`git ${branch}`)', 'execSync(command)'],
    allowed: ['/x/.exec(text)', 'pattern.exec(text)', "execFile('git', argv)"],
  },
];

/** Files that may, each because nothing is lost by it. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'no git command that throws work away is used: reset, clean, stash, checkout, switch, branch': [
    // A command of Copse has that name, too.
    'cli/program/groups/worktrees.ts',
  ],
  'nothing is forced': [
    // An option for people: it skips a question, never a rescue.
    'cli/program/groups/worktrees.ts',
    'cli/program/groups/board.ts',
    'cli/program/groups/tasks.ts',
    // Replaces pointers of Git LFS, having seen that they are pointers, with the files they stand for.
    'workspaces/files/lfs.ts',
    // Adds ignored paths to a private index.
    'workspaces/git/rescue/restore.ts',
    // An option of Perl, which then loads no file of the system's configuration.
    'processes/start/reaper.ts',
  ],
};

const sources = path.join(projectRoot, 'packages', 'copse', 'src');

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
}

/** Comments may name what code may not do. */
function withoutComments(source: string): string {
  return transformSync(source, { loader: 'ts', target: 'esnext', legalComments: 'none' }).code;
}

describe.each(RULES)('$rule', ({ rule, forbidden, violations, allowed }) => {
  it.each(violations)('is broken by %s', (code) => {
    expect(forbidden.test(code)).toBe(true);
  });

  it.each(allowed)('allows %s', (code) => {
    expect(forbidden.test(code)).toBe(false);
  });

  // promise: no-force, no-gc, no-shell
  it('holds in all sources', () => {
    const broken = filesIn(sources)
      .filter((file) => !EXCEPTIONS[rule]?.includes(file))
      .flatMap((file) =>
        withoutComments(readFileSync(path.join(sources, file), 'utf8'))
          .split('\n')
          .filter((line) => forbidden.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    expect(broken).toEqual([]);
  });
});
