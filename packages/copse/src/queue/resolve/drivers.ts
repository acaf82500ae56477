/**
 * Merge drivers of copse.yml. Copse never runs the drivers of the repository's own configuration: agents can write it.
 *
 * Patterns as in `.gitattributes` choose a file's driver; of several that match, the last counts. Copse calls a driver as git
 * does: %O, %A and %B are files with the base, the target's version and the branch's, %P is the path, %L the length of
 * conflict markers, and %S, %X and %Y are the labels of the three versions. A driver leaves the result in %A. Exit code 0
 * means resolved, 1 to 128 a conflict, above 128 a failure. It runs in a folder that holds these files only.
 *
 * Values that agents can choose, the path for one, reach the command as variables, never as part of a shell line.
 */

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { CommandsOutcome } from '../../workspaces/ports/furnishing.ts';
import { git, type TrustedDir } from '../../git/process.ts';
import type { ContentConflict } from './conflict.ts';
import { hasMarkers } from './markers.ts';
import { nul, utf8, entries } from '../../git/output.ts';
import { readPlainBytes } from '../../kernel/system/plain-file.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

/** A line for the shell, or a program with its arguments. */
export type DriverCommand = string | readonly string[];

export interface Line {
  readonly line: string;
  readonly env: Readonly<Record<string, string>>;
}

export type RunLine = (line: Line, folder: string, name: string) => Promise<CommandsOutcome>;

export type Driven =
  | { readonly kind: 'resolved'; readonly content: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** The driver of each file that has one. */
export async function findDrivers(
  dir: TrustedDir,
  scratch: string,
  drivers: Readonly<Record<string, DriverCommand>>,
  files: readonly string[],
): Promise<ReadonlyMap<string, DriverCommand>> {
  const commands = Object.entries(drivers);
  if (commands.length === 0 || files.length === 0) return new Map();
  const workTree = mkdtempSync(path.join(scratch, 'patterns-'));
  const lines = commands.map(([pattern], at) => `${quotedPattern(pattern)} ${ATTRIBUTE}=${at}\n`);
  writeFileSync(path.join(workTree, '.gitattributes'), lines.join(''));
  const argv = ['check-attr', '--stdin', '-z', ATTRIBUTE];
  const said = entries(await git(dir, argv, { workTree, input: nul(files) }));
  const found = new Map<string, DriverCommand>();
  for (let at = 0; at + 2 < said.length; at += 3) {
    const [file = '', , value = ''] = said.slice(at, at + 3);
    const command = /^\d+$/.test(value) ? commands[Number(value)]?.[1] : undefined;
    if (command !== undefined) found.set(file, command);
  }
  return found;
}

const ATTRIBUTE = 'copse-merge-driver';

/** Quotes allow a pattern to contain spaces and to begin with a #. */
function quotedPattern(pattern: string): string {
  return `"${pattern.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

const FILES = { O: 'base', A: 'ours', B: 'theirs' } as const;

export async function runDriver(
  scratch: string,
  conflict: ContentConflict,
  command: DriverCommand,
  run: RunLine,
  called: Readonly<Record<'S' | 'X' | 'Y', string>>,
): Promise<Driven> {
  const { base, ours, theirs } = conflict;
  const file = utf8(conflict.file);
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(path.join(scratch, 'driver-'));
  const contents = { O: base?.content ?? '', A: ours.content, B: theirs.content };
  for (const [name, content] of Object.entries(contents) as [keyof typeof FILES, string][])
    writeFileSync(path.join(folder, FILES[name]), content, 'latin1');
  const outcome = await run(lineOf(command, { ...called, P: file }), folder, 'merge-driver');
  if (outcome.kind === 'failed') return { kind: 'failed', reason: whyNot(file, outcome) };
  const content = resultIn(path.join(folder, FILES.A));
  if (content === undefined)
    return { kind: 'failed', reason: `The merge driver of ${file} left no file that can be read.` };
  if (hasMarkers(content) && !hasMarkers(ours.content) && !hasMarkers(theirs.content))
    return { kind: 'failed', reason: `The merge driver of ${file} left conflict markers in the file.` };
  return { kind: 'resolved', content };
}

function resultIn(file: string): string | undefined {
  try {
    return readPlainBytes(file, { mostBytes: defaultPolicy.resolutions.generatedBytes })?.toString('latin1');
  } catch {
    return undefined;
  }
}

type DriverValues = Readonly<Record<'S' | 'X' | 'Y' | 'P', string>>;

function lineOf(command: DriverCommand, values: DriverValues): Line {
  if (typeof command !== 'string') {
    // Every word is a variable, so that the shell interprets none of them.
    const words = command.map((word) => expand(word, (name) => valueOf(name, values)));
    const names = words.map((_, at) => `COPSE_WORD_${at}`);
    const env = Object.fromEntries(words.map((word, at) => [names[at] ?? '', word]));
    return { line: names.map((name) => `"$${name}"`).join(' '), env };
  }
  const env = Object.fromEntries(
    (['S', 'X', 'Y', 'P'] as const).map((name) => [`COPSE_MERGE_${name}`, values[name]]),
  );
  const line = expand(command, (name) => (name in values ? `"$COPSE_MERGE_${name}"` : valueOf(name, values)));
  return { line, env };
}

function expand(text: string, value: (name: string) => string): string {
  return text.replaceAll(/%([%OABLPSXY])/g, (_, name: string) => (name === '%' ? '%' : value(name)));
}

const MARKER_LENGTH = '7';

function valueOf(name: string, values: DriverValues): string {
  if (name === 'L') return MARKER_LENGTH;
  return name in FILES ? FILES[name as keyof typeof FILES] : values[name as keyof DriverValues];
}

const MOST_CONFLICTS = defaultPolicy.resolving.conflicts;
/** Exit codes of a shell that cannot find or run the program. */
const NOT_RUN = new Set<number | null>([126, 127]);

function whyNot(file: string, { because, code, tail }: Extract<CommandsOutcome, { kind: 'failed' }>): string {
  const isConflict = because === 'exit' && (code ?? 0) <= MOST_CONFLICTS && !NOT_RUN.has(code);
  const what = isConflict
    ? `reports a conflict too (exit code ${code})`
    : because === 'timeout'
      ? 'timed out'
      : because === 'exit' && !NOT_RUN.has(code)
        ? `failed (exit code ${code})`
        : 'could not start';
  return [`The merge driver of ${file} ${what}.`, ...tail.map((line) => `  ${line}`)].join('\n');
}
