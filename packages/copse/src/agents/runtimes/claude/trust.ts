/**
 * Answers Claude Code's trust dialog in advance, for exactly one folder. Every worktree is a new folder to it, and an agent in
 * a dialog would wait unseen for ever.
 *
 * The file belongs to the user, and running programs rewrite it under a lock, the folder `.claude.json.lock`. Copse does the
 * same: take the lock, read, add, write beside it, rename. A program that writes without the lock may lose Copse's answer,
 * never its own: Copse reads the file again, and adds the answer again if it is gone.
 *
 * Only `projects[folder].hasTrustDialogAccepted` changes; in a file that was never used also the answers to the first start's
 * questions, if a key in the environment makes a login unnecessary. A file that cannot be parsed is not changed.
 */

import { mkdirSync, realpathSync, rmSync, rmdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { type Fields, fields, isFields } from '../fields.ts';
import { readIfThere } from '../../../kernel/system/plain-file.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';

type Environment = Readonly<Record<string, string>>;

const TRIES = 5;

/** False when the file could not be parsed or changed: then the dialog may appear. */
export async function trustFolder(environment: Environment, folder: string): Promise<boolean> {
  const named = answersOf(environment);
  const file = followed(named);
  const names = [...new Set([folder, followed(folder)])];
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  for (let look = 0; look < TRIES; look += 1) {
    const text = readText(file);
    const after = answered(text, names, environment);
    if (after === undefined) return false;
    if (after === text) return true;
    await withLock(`${named}.lock`, () => {
      const now = readText(file);
      const next = answered(now, names, environment);
      if (next !== undefined && next !== now) replace(file, next);
    });
  }
  return false;
}

/** Beside the default settings folder, but inside a configured one. */
function answersOf({ CLAUDE_CONFIG_DIR, HOME }: Environment): string {
  return path.join(CLAUDE_CONFIG_DIR ?? HOME ?? homedir(), '.claude.json');
}

/** The file's new text; the same text when no answer is missing; undefined when it cannot be parsed. */
function answered(
  text: string | undefined,
  folders: readonly string[],
  environment: Environment,
): string | undefined {
  const before = parsed(text);
  if (before === undefined) return undefined;
  const missing = folders.filter(
    (folder) => fields(fields(before, 'projects'), folder)?.['hasTrustDialogAccepted'] !== true,
  );
  if (missing.length === 0 && !isFresh(before, environment)) return text;
  const projects = { ...fields(before, 'projects') };
  for (const folder of missing)
    projects[folder] = { ...fields(projects, folder), hasTrustDialogAccepted: true };
  const first = isFresh(before, environment) ? firstAnswers(before, environment) : {};
  return `${JSON.stringify({ ...before, ...first, projects }, null, 2)}\n`;
}

/** Claude Code was never started here, and needs no login. */
function isFresh(answers: Fields, environment: Environment): boolean {
  return answers['hasCompletedOnboarding'] !== true && Boolean(environment['ANTHROPIC_API_KEY']);
}

/** The theme, and the approval of the key in the environment, which is stored by the key's last characters. */
function firstAnswers(answers: Fields, environment: Environment): Fields {
  const keys = fields(answers, 'customApiKeyResponses');
  const end = (environment['ANTHROPIC_API_KEY'] ?? '').slice(-KEY_END);
  return {
    hasCompletedOnboarding: true,
    ...(answers['theme'] === undefined && { theme: 'dark' }),
    ...(keys === undefined && { customApiKeyResponses: { approved: [end], rejected: [] } }),
  };
}

const KEY_END = 20;

function parsed(text: string | undefined): Fields | undefined {
  if (text === undefined || text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readText(file: string): string | undefined {
  return readIfThere(file, { mostBytes: defaultPolicy.files.packedRefsBytes, isFollowing: true });
}

/** Some users link the file to another place; the link stays. */
function followed(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function replace(file: string, text: string): void {
  const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
  writeAtomically(file, text, { mode });
}

const LOCK_LOOKS = 200;
const LOCK_LOOK_MS = 25;
/** The program's own rule: a lock that is older was left by a killed process. */
const LEFT_BEHIND_MS = 10_000;

/** Goes on without the lock after a while: an agent in a dialog is worse than a lost answer. */
async function withLock(lock: string, work: () => void): Promise<void> {
  let isOurs = false;
  for (let look = 0; look < LOCK_LOOKS && !isOurs; look += 1) {
    isOurs = takeLock(lock);
    if (!isOurs) await sleep(LOCK_LOOK_MS);
  }
  try {
    work();
  } finally {
    if (isOurs) rmdirSync(lock);
  }
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  const found = statSync(lock, { throwIfNoEntry: false });
  if (found !== undefined && Date.now() - found.mtimeMs > LEFT_BEHIND_MS)
    rmSync(lock, { recursive: true, force: true });
  return false;
}
