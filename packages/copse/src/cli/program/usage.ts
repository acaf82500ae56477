/** Explains a command line that commander refused: what is wrong with it, and what to type instead. */

import type { CommanderError } from 'commander';

import { nearest } from '../../config/problems/nearest.ts';
import { shellWord } from '../../kernel/shell.ts';
import type { Failure } from '../../operations/failure.ts';
import type { CopseCommand } from './command.ts';
import { effects } from './effects.ts';
import { topics } from './help.ts';

export function explainUsage(error: CommanderError, program: CopseCommand, argv: readonly string[]): Failure {
  const { command, rest } = locate(program, argv);
  const name = `copse ${command.path()}`.trimEnd();
  const { reason, next = [] } = describe(error, command, name, rest);
  return { code: 'usage', reason, next: [...next, command === program ? 'copse help' : `${name} --help`] };
}

interface Explanation {
  readonly reason: string;
  readonly next?: readonly string[];
}

function describe(
  error: CommanderError,
  command: CopseCommand,
  name: string,
  rest: readonly string[],
): Explanation {
  const [word = ''] = command.args;
  switch (error.code) {
    case 'commander.help':
      return { reason: `${name} needs a command: ${command.commands.map((one) => one.name()).join(', ')}.` };
    case 'commander.unknownCommand':
      return unknownCommand(command, word, rest);
    case 'commander.unknownOption':
      return unknownOption(error, command, name);
    case 'commander.missingArgument':
      return missingArgument(error, command, name);
    case 'commander.excessArguments':
      // A command that also runs alone, such as `copse queue`: its first word can only name a command below it.
      return command.commands.length > 0 ? unknownCommand(command, word, rest) : tooManyWords(command, name);
    case 'commander.missingMandatoryOptionValue':
      return missingOption(error, command, name);
    case 'commander.optionMissingArgument':
      return missingValue(error, command);
    default:
      return { reason: sentence(error.message) };
  }
}

function unknownCommand(above: CopseCommand, word: string, rest: readonly string[]): Explanation {
  const path = above.path();
  const subject = path === '' ? 'There is no command' : `copse ${path} has no command`;
  const known = above.commands.filter((one) => isHarmless(one as CopseCommand, rest[1]));
  const names = known.flatMap((one) =>
    [one.name(), ...one.aliases()].map((name) => [name, one.name()] as const),
  );
  const near = isShort(word)
    ? nearest(
        word,
        names.map(([name]) => name),
      )
    : undefined;
  const meant = names.find(([name]) => name === near)?.[1];
  if (meant === undefined) return { reason: `${subject} ${quoted(word)}.` };
  return {
    reason: `${subject} ${quoted(word)}. Did you mean ${meant}?`,
    next: [`copse ${path} ${meant}`.replace('  ', ' ')],
  };
}

/** A command with commands of its own is judged by the one that the next word names. */
function isHarmless(command: CopseCommand, next: string | undefined): boolean {
  const below = command.commands.find((one) => one.name() === next || one.aliases().includes(next ?? ''));
  const path = `${command.path()} ${below?.name() ?? ''}`.trimEnd();
  if (below === undefined && command.commands.length > 0 && effects[path] === undefined) return true;
  return effects[path] === 'reads';
}

/** What other programs call these options. */
const synonyms: Readonly<Record<string, string>> = {
  '--after': '--depends',
  '--blocked-by': '--depends',
  '--needs': '--depends',
};

function unknownOption(error: CommanderError, command: CopseCommand, name: string): Explanation {
  const option = inQuotes(error);
  const page = command.path() === 'help' ? pageOf(command, option) : undefined;
  if (page !== undefined)
    return { reason: `${name} has no option ${quoted(option)}.`, next: [`copse help ${page}`] };
  const known = command.createHelp().visibleOptions(command);
  const [flag = '', value] = option.split('=');
  if (value !== undefined && command.options.some(({ long }) => long === flag))
    return { reason: `${flag} takes no value: ${quoted(value)}.` };
  const names = known.flatMap(({ long }) => long ?? []);
  const same = names.find((one) => one === synonyms[flag]) ?? onlyLonger(flag, names);
  const near = same ?? (isShort(option) ? nearest(option, names) : undefined);
  const isAnId = /^-[a-z0-9]{4,}$/.test(flag);
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  const dash = value === undefined && !isAnId && near === undefined;
  return {
    reason: `${name} has no option ${quoted(flag)}.${meant}`,
    // A text that begins with a dash is meant as a word.
    ...(dash && takesOneWord(command) && { next: [`${name} -- ${shellWord(option)}`] }),
  };
}

/** `--keep` of `copse delete` begins the name of one option only. */
function onlyLonger(flag: string, names: readonly string[]): string | undefined {
  const longer = names.filter((one) => one.startsWith(`${flag}-`));
  return longer.length === 1 ? longer[0] : undefined;
}

/** `--all` of `copse help --all`: the word for a page of help. */
function pageOf({ parent }: CopseCommand, option: string): string | undefined {
  const commands = parent?.commands.map((one) => one.name()) ?? [];
  return ['all', ...Object.keys(topics), ...commands].find((word) => `--${word}` === option);
}

function takesOneWord({ registeredArguments: [first, second] }: CopseCommand): boolean {
  return first !== undefined && second?.required !== true;
}

function missingArgument(error: CommanderError, command: CopseCommand, name: string): Explanation {
  const missing = inQuotes(error);
  const argument = command.registeredArguments.find((one) => one.name() === missing);
  const [, lister] = listers.find(([about]) => argument?.description.startsWith(about)) ?? [];
  return {
    reason: `${name} needs <${missing}>${argument?.description ? `: ${argument.description}` : ''}.`,
    ...(lister !== undefined && { next: [lister] }),
  };
}

/** The command that lists what can be given. */
const listers: readonly (readonly [about: string, command: string])[] = [
  ['a plan id', 'copse plan list'],
  ['an artifact id', 'copse artifact list --all'],
  ['a task id', 'copse list'],
];

function tooManyWords(command: CopseCommand, name: string): Explanation {
  const { length } = command.registeredArguments;
  const extra = quoted(command.args[length] ?? '');
  if (length === 0) return { reason: `${name} takes no argument: ${extra}.` };
  const most = length === 1 ? 'one argument' : `${length} arguments`;
  return { reason: `${name} takes at most ${most}; ${extra} is too many.` };
}

function missingOption(error: CommanderError, command: CopseCommand, name: string): Explanation {
  const flags = inQuotes(error);
  const option = command.options.find((one) => one.flags === flags);
  return { reason: `${name} needs ${flags}${option?.description ? `: ${option.description}` : ''}.` };
}

function missingValue(error: CommanderError, command: CopseCommand): Explanation {
  const flags = inQuotes(error);
  const option = command.options.find((one) => one.flags === flags);
  return { reason: `${flags} needs a value${option?.description ? `: ${option.description}` : ''}.` };
}

/** The command that the words name, and the words after it. */
function locate(program: CopseCommand, argv: readonly string[]) {
  let command = program;
  for (const [index, word] of argv.entries()) {
    const next = command.commands.find((known) => known.name() === word || known.aliases().includes(word));
    if (next === undefined) return { command, rest: argv.slice(index) };
    command = next as CopseCommand;
  }
  return { command, rest: [] };
}

const QUOTED_CHARACTERS = 60;

function isShort(word: string): boolean {
  return word.length <= QUOTED_CHARACTERS;
}

function quoted(word: string): string {
  return JSON.stringify(isShort(word) ? word : `${word.slice(0, QUOTED_CHARACTERS)}…`);
}

/** Commander puts the word that it talks about between single quotes. */
function inQuotes({ message }: CommanderError): string {
  return message.slice(message.indexOf("'") + 1, message.lastIndexOf("'"));
}

function sentence(message: string): string {
  const text = message.replace(/^error: /, '').replace(/([^.?!)])$/, '$1.');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
