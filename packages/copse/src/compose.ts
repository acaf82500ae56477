/** The one file that names concrete adapters: from a folder and an environment to a board that can be used. */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { type BoardAddress, openBoard } from './adapters/board/open.ts';
import { excludeFromGit } from './adapters/git/exclude.ts';
import { type Repository, findRepository } from './adapters/git/locate.ts';
import type { GitVersion } from './adapters/git/version.ts';
import type { Context } from './app/context.ts';
import type { Author } from './domain/event.ts';
import { drawId, timestamp } from './domain/ids.ts';
import { type Policy, defaultPolicy } from './domain/policy.ts';
import { BoardUnavailable } from './ports/board.ts';
import type { Clock, Random } from './ports/clock.ts';

export { findRepository, type Repository } from './adapters/git/locate.ts';

export async function gitVersion(): Promise<GitVersion> {
  const git = await import('./adapters/git/version.ts');
  return git.gitVersion();
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function requireRepository({ cwd }: Surroundings): Repository {
  const repository = existsSync(cwd) ? findRepository(cwd) : undefined;
  if (repository) return repository;
  throw new BoardUnavailable(
    `${cwd} is not inside a git repository, so there is no board to find.`,
    'Go into a repository, or make one here: git init',
    { isMissing: true },
  );
}

const systemClock: Clock = { now: () => timestamp(Date.now()) };

/** Ids have to differ, not to be secret; loading `node:crypto` would cost a start-up a fifth of its time. */
const systemRandom: Random = () => Math.random();

/** Opens the board of the repository around the folder, creating it on first use. */
export async function openContext(surroundings: Surroundings): Promise<Context> {
  const repository = requireRepository(surroundings);
  const { address, policy } = await settingsOf(repository, surroundings);
  if (address.engine === 'sqlite') prepareFolder(repository);
  const board = await openBoard(address, policy, { id: drawId('bo-', systemRandom), at: systemClock.now() });
  return { board, clock: systemClock, random: systemRandom, policy, by: authorOf(surroundings) };
}

interface Settings {
  readonly address: BoardAddress;
  readonly policy: Policy;
}

async function settingsOf(repository: Repository, surroundings: Surroundings): Promise<Settings> {
  const file = path.join(repository.configFolder, 'copse.yml');
  const sqlite: BoardAddress = { engine: 'sqlite', file: boardFile(repository) };
  const named = surroundings.env['COPSE_BOARD'];
  const fromEnvironment: BoardAddress | undefined = named ? { engine: 'postgres', url: named } : undefined;
  if (!existsSync(file)) return { address: fromEnvironment ?? sqlite, policy: defaultPolicy };
  // Loaded only when there is something to read: the schema costs as much start-up as everything else together.
  const { parseConfig } = await import('./protocol/config/parse.ts');
  const { policyFrom } = await import('./protocol/config/effective.ts');
  const { renderProblem } = await import('./protocol/config/problems.ts');
  const text = readConfig(file);
  if (text === undefined)
    throw new BoardUnavailable(
      'copse.yml is there but cannot be read.',
      'Check that it is a file that you may read.',
    );
  const parsed = parseConfig(text, { file: 'copse.yml' });
  if (!parsed.ok) {
    throw new BoardUnavailable(
      parsed.problems.map(renderProblem).join('\n'),
      'Correct it, then: copse config check',
    );
  }
  const { board } = parsed.config;
  const fromFile: BoardAddress | undefined = board ? { engine: 'postgres', url: board } : undefined;
  return { address: fromEnvironment ?? fromFile ?? sqlite, policy: policyFrom(parsed.config) };
}

/** Undefined when it is there and cannot be read. */
export function readConfig(file: string): string | undefined {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  } catch {
    return undefined;
  }
}

function boardFile(repository: Repository): string {
  return path.join(repository.home, '.copse', 'board.db');
}

function prepareFolder(repository: Repository): void {
  const folder = path.dirname(boardFile(repository));
  if (existsSync(boardFile(repository))) return;
  if (repository.home !== repository.commonDir) excludeFromGit(repository.commonDir, '/.copse/');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

function authorOf({ env }: Surroundings): Author {
  return { kind: 'person', name: env['USER'] ?? env['USERNAME'] ?? null };
}
