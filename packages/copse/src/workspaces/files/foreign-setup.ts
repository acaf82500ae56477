/**
 * Reads the set-up commands that the files of other tools define for a worktree.
 *
 * Only the main checkout is read, never a worktree: an agent could write commands there. If a file is unclear, or two files
 * have commands, nothing runs and the person gets a note.
 *
 *   Cursor     `.cursor/worktrees.json`: `setup-worktree-unix` or `-windows`, else `setup-worktree`; a list of command
 *              lines, or the path of a script beside the file
 *   Conductor  `conductor.json`: `scripts.setup`, and `scripts.archive` before a removal
 */

import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { shellQuoted } from '../../kernel/shell.ts';
import { isProgram } from '../../kernel/system/find-program.ts';
import { isWithin } from '../../kernel/system/within.ts';

export interface ForeignSetup {
  readonly setup: readonly string[];
  readonly teardown: readonly string[];
  /** The file they come from, relative to the checkout; null when there is none. */
  readonly from: string | null;
  readonly notes: readonly string[];
}

interface ForeignCommands {
  readonly setup: readonly string[];
  readonly teardown: readonly string[];
}

type ForeignReading = ForeignCommands | { readonly unclear: string } | undefined;

const CURSOR = '.cursor/worktrees.json';
const CONDUCTOR = 'conductor.json';
const CONDUCTOR_SETTINGS = '.conductor/settings.toml';
const MAX_BYTES = 256 * 1024;

export function readForeignSetup(checkout: string): ForeignSetup {
  const readings: readonly (readonly [string, ForeignReading])[] = [
    [CURSOR, readCursor(checkout)],
    [CONDUCTOR, readConductor(checkout)],
  ];
  const notes = readings.flatMap(([file, reading]) =>
    reading && 'unclear' in reading ? [`${file} was not used: ${reading.unclear}`] : [],
  );
  const clear = readings.flatMap(([file, reading]) =>
    reading && 'setup' in reading && reading.setup.length + reading.teardown.length > 0
      ? [{ file, ...reading }]
      : [],
  );
  const [first, second] = clear;
  if (second !== undefined)
    notes.push(
      `${clear.map(({ file }) => file).join(' and ')} both have set-up commands, so neither was used. ${REMEDY}`,
    );
  if (first === undefined || second !== undefined) return { setup: [], teardown: [], from: null, notes };
  return { setup: first.setup, teardown: first.teardown, from: first.file, notes };
}

const REMEDY = 'Set workspace.setup in copse.yml.';

/** The variables that scripts of those tools expect. */
export function foreignEnvironment(
  checkout: string,
  worktree: string,
  port: string | undefined,
): Readonly<Record<string, string>> {
  return {
    ROOT_WORKTREE_PATH: checkout,
    CONDUCTOR_ROOT_PATH: checkout,
    CONDUCTOR_WORKSPACE_PATH: worktree,
    CONDUCTOR_WORKSPACE_NAME: path.basename(worktree),
    ...(port === undefined ? {} : { CONDUCTOR_PORT: port }),
  };
}

function readCursor(checkout: string): ForeignReading {
  const json = readJson(checkout, CURSOR);
  if (json === undefined || 'unclear' in json) return json;
  const own = process.platform === 'win32' ? 'setup-worktree-windows' : 'setup-worktree-unix';
  const value = json.value[own] ?? json.value['setup-worktree'];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every(isLine)) return { setup: value, teardown: [] };
  if (typeof value === 'string') return scriptBeside(checkout, value);
  return { unclear: `${own} is neither a list of commands nor the path of a script. ${REMEDY}` };
}

function scriptBeside(checkout: string, name: string): ForeignReading {
  const file = path.resolve(checkout, path.dirname(CURSOR), name);
  const real = isWithin(checkout, file) && existsSync(file) ? realpathSync(file) : undefined;
  if (real === undefined || !isWithin(realpathSync(checkout), real) || !lstatSync(real).isFile())
    return { unclear: `${JSON.stringify(name)} is not a script beside it. ${REMEDY}` };
  return { setup: [isProgram(real) ? shellQuoted(real) : `sh ${shellQuoted(real)}`], teardown: [] };
}

function readConductor(checkout: string): ForeignReading {
  if (existsSync(path.join(checkout, CONDUCTOR_SETTINGS)))
    return {
      unclear: `Conductor uses ${CONDUCTOR_SETTINGS} here, which Copse does not read. ${REMEDY}`,
    };
  const json = readJson(checkout, CONDUCTOR);
  if (json === undefined || 'unclear' in json) return json;
  const { scripts } = json.value;
  if (scripts === undefined) return undefined;
  if (!isObject(scripts)) return { unclear: `scripts is not an object. ${REMEDY}` };
  const { setup, archive } = scripts;
  if (![setup, archive].every((line) => line === undefined || typeof line === 'string'))
    return { unclear: `scripts.setup or scripts.archive is not a command line. ${REMEDY}` };
  return { setup: [setup].filter(isLine), teardown: [archive].filter(isLine) };
}

function readJson(
  checkout: string,
  name: string,
): { readonly value: Readonly<Record<string, unknown>> } | { readonly unclear: string } | undefined {
  const file = path.join(checkout, name);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (
    !found.isFile() ||
    found.size > MAX_BYTES ||
    realpathSync(file) !== path.join(realpathSync(checkout), name)
  )
    return { unclear: 'it is not a small plain file.' };
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isObject(value) ? { value } : { unclear: `it is not a JSON object. ${REMEDY}` };
  } catch (error) {
    return {
      unclear: `it cannot be read as JSON (${error instanceof Error ? error.message : String(error)}).`,
    };
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && !value.includes('\0');
}
