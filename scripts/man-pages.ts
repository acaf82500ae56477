/**
 * Man pages from the tree of commands: `copse.1`, and `copse-plan-add.1` for every visible command. `npm run build` writes them to
 * packages/copse/dist/man.
 *
 *   npm exec -c "node scripts/man-pages.ts [folder]"
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import packageJson from '../packages/copse/package.json' with { type: 'json' };
import { exitCodes } from '../packages/copse/src/cli/exit-code.ts';
import { CopseCommand } from '../packages/copse/src/cli/program/command.ts';
import { topics } from '../packages/copse/src/cli/program/help.ts';
import { createProgram } from '../packages/copse/src/cli/program/program.ts';
import { openOutput } from '../packages/copse/src/cli/output.ts';

/** The text of each page by its file's name. */
export function manPages(): ReadonlyMap<string, string> {
  const { stdout, stderr } = process;
  const program = createProgram({
    version: packageJson.version,
    cwd: '/',
    env: {},
    stdin: () => process.stdin,
    output: openOutput({ stdout, stderr }),
    runInside: () => Promise.resolve(0),
  });
  return new Map(
    [program, ...commandsBelow(program)].map((command) => [`${nameOf(command)}.1`, pageOf(command)]),
  );
}

function commandsBelow(command: CopseCommand): readonly CopseCommand[] {
  const below = visibleBelow(command);
  return below.concat(below.flatMap(commandsBelow));
}

function visibleBelow(command: CopseCommand): readonly CopseCommand[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one instanceof CopseCommand);
}

function nameOf(command: CopseCommand): string {
  return ['copse', ...command.path().split(' ')].filter(Boolean).join('-');
}

/** Of the last change of this form; a page without a date is a mistake to mandoc. */
const DATE = '2026-11-17';

function pageOf(command: CopseCommand): string {
  const name = nameOf(command);
  const below = visibleBelow(command);
  const help = command.createHelp();
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
  const lines = [
    `.TH ${escaped(name.toUpperCase())} 1 ${DATE} "copse ${packageJson.version}" Copse`,
    ...section('NAME', [`${escaped(name)} \\- ${escaped(command.description())}`]),
    ...section('SYNOPSIS', [
      `.B ${escaped(`copse ${command.path()}`.trim())}`,
      text(
        help
          .commandUsage(command)
          .replace(/^copse(?:\|?\S*)*? /, '')
          .replace(ownPath(command), '')
          .trim() || '[options]',
      ),
    ]),
    ...section('DESCRIPTION', [
      text(command.description()),
      ...command.explanations.flatMap((part) => ['.PP', text(part)]),
    ]),
    ...terms(
      'ARGUMENTS',
      command.registeredArguments.map((one) => [one.name(), one.description]),
    ),
    ...terms(
      'COMMANDS',
      below.map((one) => [`copse ${one.path()}`, one.description()]),
    ),
    ...terms(
      'OPTIONS',
      options.map((one) => [one.flags, one.description]),
    ),
    ...(command.parent
      ? []
      : terms(
          'TOPICS',
          Object.entries(topics).map(([topic, about]) => [`copse help ${topic}`, about]),
        )),
    ...terms(
      'EXAMPLES',
      command.exampleLines.map(({ line, why }) => [line, why]),
    ),
    ...(below.length === 0 ? exitStatus : []),
    ...section('SEE ALSO', [seeAlso(command, below)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** `plan|prd add`, as commander writes it in the usage. */
function ownPath(command: CopseCommand): RegExp {
  const names = command.path().split(' ').filter(Boolean);
  return new RegExp(`^${names.map((name) => `${name}(?:\\|\\S+)?`).join(' ')} ?`);
}

const codes: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failed: 'failed',
  usage: 'wrong usage',
  notFound: 'not found',
  refused: 'refused',
  needsPerson: 'done as far as possible; a task needs a person',
};

const exitStatus = terms(
  'EXIT STATUS',
  Object.entries(exitCodes).map(([name, code]) => [String(code), codes[name as keyof typeof exitCodes]]),
);

function seeAlso(command: CopseCommand, below: readonly CopseCommand[]): string {
  const { parent } = command;
  const above = parent instanceof CopseCommand ? [parent] : [];
  return (
    [...above, ...below].map((one) => `.BR ${escaped(nameOf(one))} (1)`).join('\n') || text('copse help')
  );
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return [`.SH ${title}`, ...lines];
}

function terms(title: string, rows: readonly (readonly [term: string, about: string])[]): readonly string[] {
  if (rows.length === 0) return [];
  return section(
    title,
    rows.flatMap(([term, about], index) => {
      if (about !== '') return ['.TP', `.B ${escaped(term)}`, text(about)];
      return [...(index === 0 ? [] : ['.PP']), `.B ${escaped(term)}`];
    }),
  );
}

/** One input line; a line that begins with a dot would be a request. */
function text(words: string): string {
  return escaped(words.replaceAll('\n', ' ')).replace(/^[.']/, String.raw`\&$&`);
}

function escaped(words: string): string {
  return words
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll('"', String.raw`\(dq`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('~', String.raw`\(ti`)
    .replaceAll(
      /[^\u0000-\u007f]/gu,
      (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? fileURLToPath(new URL('../packages/copse/dist/man', import.meta.url));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, page] of manPages()) writeFileSync(path.join(folder, name), page);
}
