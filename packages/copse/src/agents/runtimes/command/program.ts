/** The program that the command line of an agent starts, as far as that can be told without a shell. */

import path from 'node:path';

import { findProgram, isProgram } from '../../../kernel/system/find-program.ts';

export type ProgramLook =
  | { readonly kind: 'found' }
  | { readonly kind: 'not_found'; readonly program: string }
  /** The command begins with a variable, a quote or a word of the shell. */
  | { readonly kind: 'unknown' };

/** `root` is the folder that paths are relative to. */
export function lookForProgram(
  command: string | readonly string[],
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): ProgramLook {
  const program = typeof command === 'string' ? firstWord(command) : command[0];
  if (program === undefined || program === '') return { kind: 'unknown' };
  const isThere = program.includes('/')
    ? isProgram(path.resolve(root, program))
    : findProgram(program, env) !== undefined;
  return isThere ? { kind: 'found' } : { kind: 'not_found', program };
}

function firstWord(line: string): string | undefined {
  const word = /^\s*([\w./+-]+)(?=\s|$)/.exec(line)?.[1];
  return word === undefined || SHELL_WORDS.has(word) ? undefined : word;
}

const SHELL_WORDS: ReadonlySet<string> = new Set(
  '. alias bg break case cd command continue echo eval exec exit export false fg for function if local printf pwd read readonly return set shift source test time times trap true type ulimit umask unalias unset until wait while'.split(
    ' ',
  ),
);
