/**
 * Shell completion: the answers to `copse complete -- <words>`, one suggestion to a line with a tab before its description. The
 * last word is the one being typed. Titles of tasks are text of people and agents: they lose all control characters here, and
 * the scripts in completion-scripts.ts evaluate nothing.
 */

import type { Argument, Option } from 'commander';

import type { Board } from '../board/port.ts';
import { openContext } from '../compose/open.ts';
import type { Cli } from './invocation.ts';
import type { CopseCommand } from './program/command.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

interface Suggestion {
  readonly value: string;
  readonly about: string;
}

const SUGGESTED = 100;
const ABOUT_CHARACTERS = 60;

export async function answerCompletions(
  program: CopseCommand,
  cli: Cli,
  words: readonly string[],
): Promise<void> {
  const typed = words.at(-1) ?? '';
  const candidates = await candidatesFor(program, cli, words.slice(0, -1), typed);
  const fitting = candidates.filter(({ value }) => value.startsWith(typed));
  await cli.output.raw(fitting.map(({ value, about }) => `${value}\t${oneLine(about)}\n`).join(''));
}

async function candidatesFor(
  program: CopseCommand,
  cli: Cli,
  before: readonly string[],
  typed: string,
): Promise<readonly Suggestion[]> {
  const { command, words, open } = readWords(program, before);
  if (open !== undefined) return valuesOf(open.long ?? '', cli);
  const help = command.createHelp();
  if (typed.startsWith('-'))
    return help
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ value: long, about: description }] : []));
  const below = words.length === 0 ? help.visibleCommands(command) : [];
  const commands = below.map((one) => ({ value: one.name(), about: one.description() }));
  const argument = command.registeredArguments.at(words.length) ?? lastVariadic(command);
  return [...commands, ...(argument === undefined ? [] : await wordsOf(argument, cli))];
}

/** The command that the words name, its words so far, and the option that still needs its value. */
function readWords(program: CopseCommand, before: readonly string[]) {
  let command = program;
  const words: string[] = [];
  let open: Option | undefined;
  for (const word of before) {
    if (open !== undefined) open = undefined;
    else if (word.startsWith('-'))
      open = command.options.find((one) => one.required && (one.long === word || one.short === word));
    else {
      const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
      if (next !== undefined && words.length === 0) command = next as CopseCommand;
      else words.push(word);
    }
  }
  return { command, words, open };
}

function lastVariadic(command: CopseCommand): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
}

function wordsOf(argument: Argument, cli: Cli): Promise<readonly Suggestion[]> {
  const name = argument.name();
  if (name === 'shell') return Promise.resolve(shells.map((value) => ({ value, about: '' })));
  if (name !== 'id' && name !== 'ids') return Promise.resolve([]);
  return argument.description.includes('plan') ? plans(cli) : liveTasks(cli);
}

function valuesOf(option: string, cli: Cli): Promise<readonly Suggestion[]> {
  if (['--task', '--depends', '--not-depends'].includes(option)) return liveTasks(cli);
  return option === '--plan' ? plans(cli) : Promise.resolve([]);
}

function liveTasks(cli: Cli): Promise<readonly Suggestion[]> {
  return fromBoard(cli, async (board) => {
    const tasks = await board.tasks({ finished: false, order: 'urgent', limit: SUGGESTED });
    return tasks.map(({ id, title }) => ({ value: id, about: title }));
  });
}

function plans(cli: Cli): Promise<readonly Suggestion[]> {
  return fromBoard(cli, async (board) =>
    (await board.list('plan')).slice(-SUGGESTED).map(({ id, title }) => ({ value: id, about: title })),
  );
}

/** Without a board there are no suggestions, and no error. */
async function fromBoard(
  cli: Cli,
  read: (board: Board) => Promise<readonly Suggestion[]>,
): Promise<readonly Suggestion[]> {
  try {
    const { board } = await openContext(cli);
    try {
      return await read(board);
    } finally {
      await board.close();
    }
  } catch {
    return [];
  }
}

function oneLine(text: string): string {
  const plain = text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  const characters = Array.from(plain);
  return characters.length <= ABOUT_CHARACTERS
    ? plain
    : `${characters.slice(0, ABOUT_CHARACTERS - 1).join('')}…`;
}
