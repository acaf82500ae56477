/** Commits made by plain git without a worktree. */

import { execFileSync } from 'node:child_process';

import { git, plainEnv } from '../cli.ts';

export interface BranchCommit {
  readonly message: string;
  /** What is written, and with null what is deleted. */
  readonly files: Readonly<Record<string, string | null>>;
  /** Where a branch that is new begins; else at main. */
  readonly from?: string;
  readonly author?: string;
  /** Seconds and time zone. */
  readonly authored?: string;
}

/** One commit on a branch, which goes on from where it is. */
export function commitOn(folder: string, branch: string, commit: BranchCommit): string {
  const { message, files, from = 'main', author = 'Ada <ada@example.invalid>', authored } = commit;
  const now = `${Math.floor(Date.now() / 1_000)} +0000`;
  const known = [branch, from].find((name) => isCommit(folder, name));
  const script = [
    `commit refs/heads/${branch}`,
    `author ${author} ${authored ?? now}`,
    `committer Ada <ada@example.invalid> ${now}`,
    data(message),
    ...(known === undefined ? [] : [`from ${git(folder, 'rev-parse', `${known}^0`)}`]),
    ...Object.entries(files).flatMap(([name, content]) =>
      content === null ? [`D ${quoted(name)}`] : [`M 100644 inline ${quoted(name)}`, data(content)],
    ),
    '',
  ];
  execFileSync('git', ['fast-import', '--quiet', '--date-format=raw'], {
    cwd: folder,
    env: plainEnv,
    input: script.join('\n'),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return git(folder, 'rev-parse', branch);
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

function isCommit(folder: string, name: string): boolean {
  return (
    git(folder, 'for-each-ref', '--format=%(refname)', `refs/heads/${name}`) !== '' ||
    /^[0-9a-f]{40}$/.test(name)
  );
}
