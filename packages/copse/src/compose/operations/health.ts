/** What `copse doctor` looks at: this machine, this repository and its board. */

import { statfs } from 'node:fs/promises';

import { PENDING_REMEDY, pendingText } from '../../explain/rules/pending.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { HealthCheck } from '../../operations/access.ts';
import { loadPending } from '../accepted.ts';
import { gitVersion, hasBase } from '../on-demand.ts';
import { type Repository, type Surroundings, configOf, findRepository, requireRepository } from '../open.ts';
import { checkAgents, checkConfinement } from './health-agents.ts';
import { checkBoard } from './health-board.ts';
import { fine, problem } from './health-check.ts';

export async function checkHealth(from: Surroundings): Promise<readonly HealthCheck[]> {
  return [
    node(),
    await git(),
    repository(from),
    ...(await commit(from)),
    ...(await withSettings(from)),
    await disk(from),
    ...(await checkConfinement(from)),
  ];
}

function node(): HealthCheck {
  return fine('node', process.versions.node);
}

async function git(): Promise<HealthCheck> {
  const git = await gitVersion();
  if (git.kind === 'not_found') return problem('git', 'not found', `Install git ${git.required} or newer.`);
  return git.isNewEnough
    ? fine('git', git.version)
    : problem('git', git.version, `Copse needs git ${git.required} or newer: update it.`);
}

function repository(from: Surroundings): HealthCheck {
  let found;
  try {
    found = findRepository(from.cwd);
  } catch (error) {
    if (error instanceof Unavailable) return problem('repository', error.message, error.remedy);
    throw error;
  }
  return found
    ? fine('repository', found.top)
    : problem(
        'repository',
        `${from.cwd} is not inside a git repository`,
        'git init # to create a repository here',
      );
}

async function commit(from: Surroundings): Promise<readonly HealthCheck[]> {
  try {
    if (findRepository(from.cwd) === undefined) return [];
    if (await hasBase(from)) return [fine('commit', 'the repository has a commit to start worktrees from')];
  } catch (error) {
    // Said of the repository.
    if (error instanceof Unavailable) return [];
    throw error;
  }
  const found = 'the repository has no commit, so no worktree can be made';
  const { top, commonDir } = requireRepository(from);
  const remedy =
    top === commonDir
      ? 'This repository is bare: push a commit to it from a clone.'
      : 'git commit --allow-empty --message="First commit"';
  return [problem('commit', found, remedy)];
}

/** Neither the board nor the agents can be looked at without a repository and its settings. */
async function withSettings(from: Surroundings): Promise<readonly HealthCheck[]> {
  let found;
  try {
    found = findRepository(from.cwd);
  } catch (error) {
    // Said of the repository.
    if (error instanceof Unavailable) return [];
    throw error;
  }
  if (found === undefined) return [];
  try {
    return [await settings(found), ...(await checkBoard(from)), ...(await checkAgents(from, found))];
  } catch (error) {
    if (error instanceof Unavailable) return [problem('settings', error.message, error.remedy)];
    throw error;
  }
}

/** What the repository's own files may decide. */
async function settings(found: Repository): Promise<HealthCheck> {
  const pending = await loadPending(found);
  const text = pending.isFirst ? null : pendingText(pending);
  if (text !== null) return problem('settings', text, PENDING_REMEDY);
  await configOf(found);
  const files = Object.entries(pending.present.files).flatMap(([name, is]) => (is === null ? [] : [name]));
  return fine(
    'settings',
    files.length === 0 ? 'no copse.yml: the defaults' : `accepted: ${files.join(', ')}`,
  );
}

async function disk(from: Surroundings): Promise<HealthCheck> {
  const { bavail, bsize } = await statfs(from.cwd);
  const free = bavail * bsize;
  const wanted = defaultPolicy.orchestration.minFreeDiskBytes;
  const found = `${gigabytes(free)} free`;
  return free >= wanted
    ? fine('disk', found)
    : problem('disk', found, `Free disk space: agents start only with ${gigabytes(wanted)} or more.`);
}

function gigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GB`;
}
