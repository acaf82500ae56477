/** Commands that texts name, checked as a person uses them: copied as they are and pasted into bash or zsh. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'vitest';

import { everyCommand, isRunnable, wholeProgram } from './command-tree.ts';

const PROGRAMS = 'copse|git|cd|ls|less|npm|stty|tmux|docker|rm|mv|kill|export';

/** What a line names: all behind an arrow, what a colon ends a sentence with, and what stands between backticks. */
export function commandsIn(text: string): readonly string[] {
  const isCommand = new RegExp(`^(?:${PROGRAMS}) `);
  const found = text.split('\n').flatMap((line) => {
    const [, step] = / {2}→ (.+)$/.exec(line) ?? [];
    if (step !== undefined && isCommand.test(step)) return [step];
    // The first line of an error begins with the name of the program.
    const [, last] = new RegExp(`: ((?:${PROGRAMS}) .+)$`).exec(line.replace(/^copse: /, '')) ?? [];
    const quoted = [...line.matchAll(/`([^`]+)`/g)].map(([, inner = '']) => inner);
    return [...(last === undefined ? [] : [last]), ...quoted].filter((one) => isCommand.test(one));
  });
  // Cut to the width of a screen: `copse why` has all of it.
  return [...new Set(found)].filter((command) => !command.endsWith('…'));
}

/** Bash parses all of them, and `copse` knows each of its commands with its options. In pages of help, `<id>` stands for an id. */
export async function expectPasteable(
  texts: readonly string[],
  { isHelp = false } = {},
): Promise<readonly string[]> {
  const commands = [...new Set(texts.flatMap(commandsIn))];
  const plain = commands.map((command) => (isHelp ? command.replaceAll(/<[\w-]+>/g, 'cp-a1b2') : command));
  const words = splitByBash(plain);
  const wrong: string[] = [];
  for (const command of plain) {
    const bare = command.replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, 'word');
    if (/(?:^|\s)#/.test(bare)) wrong.push(`${command}: an interactive zsh passes # on as a word`);
    if (/<[\w-]+>/.test(bare)) wrong.push(`${command}: the shell reads < as a file`);
  }
  for (const [index, calls] of words.entries()) {
    if (calls === null) wrong.push(`${commands[index]}: bash refuses it`);
    for (const argv of calls ?? []) {
      const problem = await problemOf(argv);
      if (problem !== null) wrong.push(`${commands[index]}: ${problem}`);
    }
  }
  expect(wrong).toEqual([]);
  return commands;
}

/** The words of each call of copse, as bash hands them over; null where the syntax is wrong. No program is started. */
function splitByBash(commands: readonly string[]): readonly (readonly (readonly string[])[] | null)[] {
  const script = String.raw`
PATH=
copse() { printf '%s\0' "$@"; printf '\3'; }
for line; do
  printf '\1'
  if (eval "if false; then $line
fi") 2>/dev/null; then case $line in copse*) eval "$line" 2>/dev/null ;; esac; else printf '\2'; fi
done`;
  // Some of them write a file.
  const cwd = mkdtempSync(path.join(tmpdir(), 'copse-pasted-'));
  const { stdout, status } = spawnSync('bash', ['-c', script, 'bash', ...commands], {
    cwd,
    encoding: 'utf8',
  });
  rmSync(cwd, { recursive: true });
  expect(status).not.toBeNull();
  return stdout
    .split('\u0001')
    .slice(1)
    .map((part) => (part === '\u0002' ? null : part.split('\u0003').slice(0, -1).map(wordsOf)));
}

function wordsOf(call: string): readonly string[] {
  return call.split('\0').slice(0, -1);
}

/** As the command line parses it, without running anything. */
async function problemOf(argv: readonly string[]): Promise<string | null> {
  const program = wholeProgram();
  for (const one of everyCommand(program)) if (isRunnable(one)) one.command.action(() => {});
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return null;
  } catch (error) {
    const { code = '', exitCode, message } = error as Error & { code?: string; exitCode?: number };
    if (!code.startsWith('commander.')) throw error;
    // `copse shell-init` in a sentence is only its name.
    const isName = argv.length === 1 && code === 'commander.missingArgument';
    return isName || exitCode === 0 ? null : message;
  }
}
