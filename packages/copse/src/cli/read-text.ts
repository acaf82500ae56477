/** Texts from an option, a file or standard input. */

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { FOR_SESSION } from '../board/rules/author.ts';
import { fail } from '../operations/failure.ts';
import type { Cli } from './invocation.ts';

export interface BodyOptions {
  readonly body?: string;
  readonly bodyFile?: string;
}

export async function readBody(cli: Cli, { body, bodyFile }: BodyOptions): Promise<string | undefined> {
  if (body !== undefined && bodyFile !== undefined) {
    return fail('invalid', 'Give --body or --body-file, not both.', 'Leave one of them out.');
  }
  return bodyFile === undefined ? body : readInput(cli, bodyFile);
}

/** A file's text, or standard input for `-`. */
export async function readInput(cli: Cli, file: string): Promise<string> {
  if (file === '-') return text(cli.stdin());
  if (file.trim() === '')
    return fail('invalid', 'The name of the file is empty.', 'Use - for standard input.');
  if (cli.env[FOR_SESSION] !== undefined)
    return fail(
      'not_this_session',
      'The runner reads no file for its agent.',
      'Send the text itself, with -.',
    );
  try {
    return await readFile(path.resolve(cli.cwd, file), 'utf8');
  } catch (error) {
    return fail('not_found', unreadText(error, file), 'Check the path, or use - for standard input.');
  }
}

/** Why a file that a person named cannot be read. */
export function unreadText(error: unknown, name: string): string {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
      return `There is no file ${name}.`;
    case 'EISDIR':
      return `${name} is a folder, not a file.`;
    case 'EACCES':
      return `You have no permission to read ${name}.`;
    default:
      return `${name} cannot be read: ${messageOf(error)}.`;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}
