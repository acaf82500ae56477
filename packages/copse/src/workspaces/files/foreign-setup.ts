/**
 * Reads the set-up commands that the files of other tools define for a worktree.
 *
 * Only what a person accepted of the main checkout is read, never a worktree: an agent could write commands there. If a file
 * is unclear, or two files have commands, nothing runs and the person gets a note.
 *
 *   Cursor     `.cursor/worktrees.json`: `setup-worktree-unix` or `-windows`, else `setup-worktree`; a list of command
 *              lines, or the path of a script beside the file
 *   Conductor  `conductor.json`: `scripts.setup`, and `scripts.archive` before a removal
 */

import path from 'node:path';

import { type PowerFiles, scriptNamedBy, setupOf } from '../../git/accepted/files.ts';
import type { RunnableFiles } from '../../git/accepted/save.ts';
import { shellQuoted } from '../../kernel/shell.ts';
import { isProgram } from '../../kernel/system/find-program.ts';

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

export function readForeignSetup(files: RunnableFiles): ForeignSetup {
  const readings: readonly (readonly [string, ForeignReading])[] = [
    [CURSOR, readCursor(files)],
    [CONDUCTOR, readConductor(files)],
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

function readCursor(files: RunnableFiles): ForeignReading {
  const json = readJson(files, CURSOR);
  if (json === undefined || 'unclear' in json) return json;
  const value = setupOf(json.value);
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every(isLine)) return { setup: value, teardown: [] };
  if (typeof value === 'string') return scriptBeside(files, value);
  return { unclear: `its set-up is neither a list of commands nor the path of a script. ${REMEDY}` };
}

function scriptBeside(files: RunnableFiles, said: string): ForeignReading {
  const name = scriptNamedBy(files.read(CURSOR));
  const script = name === undefined ? undefined : files.place(name);
  if (script === undefined)
    return { unclear: `${JSON.stringify(said)} is not a script beside it. ${REMEDY}` };
  return { setup: [isProgram(script) ? shellQuoted(script) : `sh ${shellQuoted(script)}`], teardown: [] };
}

function readConductor(files: PowerFiles): ForeignReading {
  if (files.read(CONDUCTOR_SETTINGS).kind !== 'absent')
    return {
      unclear: `Conductor uses ${CONDUCTOR_SETTINGS} here, which Copse does not read. ${REMEDY}`,
    };
  const json = readJson(files, CONDUCTOR);
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
  files: PowerFiles,
  name: string,
): { readonly value: Readonly<Record<string, unknown>> } | { readonly unclear: string } | undefined {
  const found = files.read(name);
  if (found.kind === 'absent') return undefined;
  if (found.kind === 'unclear') return { unclear: found.why };
  try {
    const value: unknown = JSON.parse(found.text);
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
