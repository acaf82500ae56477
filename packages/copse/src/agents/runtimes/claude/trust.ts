/**
 * Answers beforehand, for exactly one folder, the dialog in which Claude Code asks whether it is trusted. Every worktree is a
 * new folder to it, and an agent that waits in a dialog which nobody sees is lost.
 *
 * The file is the user's, and a running program writes it too, as a whole, holding a lock beside it: the folder
 * `.claude.json.lock`. So does this: take the lock, read, add, write beside it, rename. The one who comes later reads what
 * the other wrote. One that writes without the lock may still lose our answer, never its own: it is read back, and added
 * again if it is gone.
 *
 * Only `projects[folder].hasTrustDialogAccepted` changes, and on a file that nobody has used yet what the first start asks,
 * where a key in the environment shows that nobody has to log in. A file that cannot be understood is left as it is.
 */

import { mkdirSync, readFileSync, realpathSync, rmSync, rmdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { type Fields, fields, isFields } from '../fields.ts';

type Environment = Readonly<Record<string, string>>;

const TRIES = 5;

/** False when the file could not be understood or changed: then the dialog may come. */
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

/** Beside the usual folder for settings, and inside of any other. */
function answersOf({ CLAUDE_CONFIG_DIR, HOME }: Environment): string {
  return path.join(CLAUDE_CONFIG_DIR ?? HOME ?? homedir(), '.claude.json');
}

/** The file's new text, the same one when nothing is missing, undefined when it is not for us to change. */
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

/** Somebody who never started it, and need not log in. */
function isFresh(answers: Fields, environment: Environment): boolean {
  return answers['hasCompletedOnboarding'] !== true && Boolean(environment['ANTHROPIC_API_KEY']);
}

/** The theme, and that the key in the environment may be used, which it asks by the end of the key. */
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
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** People keep such files elsewhere and link them; the link stays. */
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
/** As the program itself sees it: who holds it longer was killed. */
const LEFT_BEHIND_MS = 10_000;

/** A lock that nobody gives back is passed over: an agent that waits in a dialog is worse than a lost answer. */
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
