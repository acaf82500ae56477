/**
 * Reads the files of a main checkout that give power over this machine (config/power-files.ts), and what they name.
 *
 * Contents are read without following a link, without waiting for a pipe, and only up to a limit.
 */

import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { readPlainFile } from '../../kernel/system/plain-file.ts';
import { isWithin } from '../../kernel/system/within.ts';

export type PowerFileContent =
  /** `value`: what a YAML file says, where it was read when a person accepted it. */
  | { readonly kind: 'text'; readonly text: string; readonly value?: unknown }
  | { readonly kind: 'absent' }
  /** Something is there that Copse does not read. */
  | { readonly kind: 'unclear'; readonly why: string };

/** The contents that count: those in the checkout, or those that a person accepted. */
export interface PowerFiles {
  read(name: string): PowerFileContent;
}

const MAX_BYTES = 1024 ** 2;

export function filesIn(checkout: string): PowerFiles {
  return { read: (name) => readIn(checkout, name) };
}

function readIn(checkout: string, name: string): PowerFileContent {
  const file = path.join(checkout, name);
  if (leadsElsewhere(checkout, file)) return { kind: 'unclear', why: NOT_PLAIN };
  let found;
  try {
    found = readPlainFile(file, MAX_BYTES);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'unclear', why: `it cannot be read (${why}).` };
  }
  switch (found.kind) {
    case 'plain':
      return found.value.isCut
        ? { kind: 'unclear', why: NOT_PLAIN }
        : { kind: 'text', text: found.value.text };
    case 'missing':
      return { kind: 'absent' };
    case 'link':
    case 'other':
      return { kind: 'unclear', why: NOT_PLAIN };
    default:
      throw new Error(`A file cannot be ${String(found satisfies never)}`);
  }
}

const NOT_PLAIN = 'it is not a small plain file.';

/** A folder on the way may be a link. */
function leadsElsewhere(checkout: string, file: string): boolean {
  const folder = path.dirname(file);
  if (folder === checkout) return false;
  try {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return false;
    return realpathSync(folder) !== path.join(realpathSync(checkout), path.relative(checkout, folder));
  } catch {
    // There is no such folder, or it cannot be reached; reading the file says which.
    return false;
  }
}

/** The script that `.cursor/worktrees.json` names, relative to the checkout: what is in it gives power too. */
export function scriptNamedBy(cursor: PowerFileContent): string | undefined {
  if (cursor.kind !== 'text') return undefined;
  let json: unknown;
  try {
    json = JSON.parse(cursor.text);
  } catch {
    return undefined;
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  const value = setupOf(json as Readonly<Record<string, unknown>>);
  if (typeof value !== 'string' || value.includes('\0')) return undefined;
  const name = path.posix.join('.cursor', value);
  return path.isAbsolute(value) || !isWithin('/x', path.join('/x', name)) ? undefined : name;
}

/** The setting of Cursor that counts on this system. */
export function setupOf(cursor: Readonly<Record<string, unknown>>): unknown {
  const own = process.platform === 'win32' ? 'setup-worktree-windows' : 'setup-worktree-unix';
  return cursor[own] ?? cursor['setup-worktree'];
}
