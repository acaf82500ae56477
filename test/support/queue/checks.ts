/** A repository whose candidates are checked, with everything real. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type ChecksOptions, openChecks } from '../../../packages/copse/src/queue/checks/open.ts';
import { openCheckPlaces } from '../../../packages/copse/src/queue/checks/place.ts';
import { excludeFromGit } from '../../../packages/copse/src/git/directory/exclude.ts';
import { furnishingGit } from '../../../packages/copse/src/workspaces/files/furnish-git.ts';
import { tryFileLock, withFileLock } from '../../../packages/copse/src/git/lock.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { steps } from '../../../packages/copse/src/processes/start/steps.ts';
import { openTrash } from '../../../packages/copse/src/workspaces/trash/open.ts';
import { disk } from '../../../packages/copse/src/workspaces/files/disk.ts';
import { workspaceFurnishing } from '../../../packages/copse/src/workspaces/files/furnish.ts';
import { setupOf } from '../../../packages/copse/src/compose/run/checks.ts';
import { type CommitId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  CheckCommand,
  CheckRequest,
  CheckResult,
  CheckRunEnd,
  Checks,
} from '../../../packages/copse/src/queue/ports/checks.ts';
import { queueAsTask } from '../../../packages/copse/src/workspaces/ports/trash.ts';
import { git, newRepository, plainEnv } from '../cli.ts';
import { runGit } from '../git/git-shell.ts';
import { type Files, write } from '../workspaces/furnishing.ts';

export interface CheckSite {
  readonly root: string;
  /** Of slot 1. */
  readonly worktree: string;
  readonly gitDir: string;
  readonly checks: Checks;
  /** A commit with these files instead of those before; null deletes one. */
  readonly candidate: (files: Readonly<Record<string, string | null>>) => CommitId;
  readonly run: (commit: CommitId, commands: Commands, more?: Partial<CheckRequest>) => Promise<CheckRunEnd>;
}

type Commands = Readonly<Record<string, CheckCommand['command'] | Partial<CheckCommand>>>;

export interface SiteOptions {
  readonly files?: Files;
  readonly settings?: Partial<ChecksOptions['settings']> & { readonly setup?: readonly string[] | null };
  readonly options?: Partial<Omit<ChecksOptions, 'settings'>>;
}

export function newCheckSite(area: string, { files = {}, settings, options }: SiteOptions = {}): CheckSite {
  const root = newRepository(area);
  write(root, { '.gitignore': 'cache/\n*.log\n', ...files });
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message=files');
  return checkSiteAt(root, { ...(settings && { settings }), ...(options && { options }) });
}

let runs = 0;

export function checkSiteAt(root: string, { settings, options }: Omit<SiteOptions, 'files'> = {}): CheckSite {
  return {
    root,
    worktree: path.join(root, '.worktrees', 'copse-queue-1'),
    gitDir: path.join(root, '.git', 'worktrees', 'copse-queue-1'),
    checks: checksAt(root, settings, options),
    candidate: (files) => commitOf(root, files),
    run(commit, commands, more = {}) {
      runs += 1;
      const { signal } = new AbortController();
      const checks = Object.entries(commands).map(([name, one]) => asCheck(name, one));
      const request = { id: `ch-${process.pid}-${runs}`, slot: 1, commit, checks, signal, ...more };
      return this.checks.run(request);
    },
  };
}

export function checksAt(
  root: string,
  settings: SiteOptions['settings'] = {},
  options: SiteOptions['options'] = {},
): Checks {
  const commonDir = path.join(root, '.git');
  excludeFromGit(commonDir, '/.copse/');
  const dir = openTrustedDir({ commonDir, home: root });
  const trash = openTrash(root, dir.objectFormat);
  const lock = (name: string) => path.join(root, '.copse', 'locks', name);
  const worktreeFolder = path.join(root, '.worktrees');
  return openChecks({
    home: root,
    root,
    worktreeFolder,
    source: { folder: root, gitDir: commonDir },
    settings: { copy: [], link: [], sparse: [], commandTimeoutMs: 30_000, ...settings },
    setup: () =>
      setupOf(settings.setup === undefined ? [] : settings.setup, {
        folder: root,
        gitDir: path.join(root, '.git'),
      }),
    steps,
    sandbox: null,
    places: openCheckPlaces(dir, {
      folder: worktreeFolder,
      withLock: (work) => withFileLock(lock('worktrees'), 60_000, work),
      async discard({ path: folder, gitDir }) {
        const nothing = { branch: null, branchTip: null, head: null, base: null, rescue: null };
        const at = timestamp(Date.now());
        const record = { ...nothing, task: queueAsTask, path: folder ?? '', at, why: 'leftover' } as const;
        await trash.put({ path: folder ?? path.join(root, '.copse', 'nowhere'), gitDir, record });
      },
    }),
    furnishing: workspaceFurnishing(furnishingGit(dir), { teardowns: () => undefined }),
    tryLock: (name, work) => tryFileLock(lock(name), work),
    environment: plainEnv,
    freeBytes: (folder) => disk.freeBytes(folder),
    tailLines: 40,
    graceMs: 500,
    keepLogsMs: 60_000,
    ...options,
  });
}

function asCheck(name: string, one: Commands[string]): CheckCommand {
  const usual = { name, timeoutMs: 30_000, env: {}, workingDirectory: null };
  return typeof one === 'string' || Array.isArray(one)
    ? { ...usual, command: one as CheckCommand['command'] }
    : { ...usual, command: 'true', ...(one as Partial<CheckCommand>) };
}

/** Without touching the main checkout. */
function commitOf(root: string, files: Readonly<Record<string, string | null>>): CommitId {
  const index = path.join(root, '.copse', 'bench-index');
  rmSync(index, { force: true });
  const run = (argv: readonly string[], input = ''): string =>
    runGit({ cwd: root, argv, env: { GIT_INDEX_FILE: index }, input })
      .stdout.toString()
      .trimEnd();
  run(['read-tree', 'HEAD']);
  for (const [name, text] of Object.entries(files)) {
    if (text === null) {
      run(['rm', '-r', '--quiet', '--cached', '--', name]);
      continue;
    }
    const id = run(['hash-object', '-w', '--stdin'], text);
    const mode = text.startsWith('#!') ? '100755' : '100644';
    run(['update-index', '--add', '--cacheinfo', `${mode},${id},${name}`]);
  }
  const commit = run(['commit-tree', '-p', 'HEAD', '-m', 'candidate', run(['write-tree'])]);
  run(['update-ref', `refs/copse/test/${commit}`, commit]);
  return brand(commit);
}

/** The results of a run that came to its end. */
export function done(end: CheckRunEnd): readonly CheckResult[] {
  if (end.kind !== 'done') throw new Error(`It ended otherwise: ${JSON.stringify(end)}`);
  return end.results;
}

export function only(end: CheckRunEnd): CheckResult {
  const results = done(end);
  if (results[0] === undefined || results.length > 1) throw new Error(`Not one: ${JSON.stringify(results)}`);
  return results[0];
}

export function logOf({ log }: Pick<CheckResult, 'log'>): string {
  return log === null ? '' : readFileSync(log, 'utf8');
}

/** What a check wrote, once it did. */
export async function written(file: string): Promise<string> {
  for (let tries = 0; tries < 600; tries += 1) {
    const text = readIfThere(file);
    if (text.endsWith('\n')) return text.trimEnd();
    await sleep(50);
  }
  throw new Error(`Nobody wrote ${file}`);
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function isRunning(pid: number | string): boolean {
  try {
    // One that is dead and not buried yet does not run.
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

export function writeFile(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
