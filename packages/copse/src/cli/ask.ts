/** Questions to a person at a terminal. Without a terminal, commands fail and name the option to give. */

import { shown } from '../kernel/text.ts';
import { ownStderr } from './stdout.ts';
import type { Cli } from './invocation.ts';

export function canAsk({ output, stdin }: Cli, options: { readonly json?: boolean }): boolean {
  return options.json !== true && output.isTerminal && stdin().isTTY === true;
}

/** For a command whose output a shell reads: its questions go to stderr. */
export function canAskAside({ output, stdin }: Cli, options: { readonly json?: boolean }): boolean {
  return options.json !== true && output.areNotesShown() && stdin().isTTY === true;
}

interface Answer<T> {
  readonly value: T;
  readonly label: string;
}

/** More answers than these scroll. */
const VISIBLE = 10;

/** Undefined when the person cancelled. */
export async function choose<T extends string>(
  question: string,
  answers: readonly Answer<T>[],
  { isAside = false } = {},
): Promise<T | undefined> {
  const { select, isCancel } = await import('@clack/prompts');
  const chosen = await select<string>({
    ...(isAside && { output: ownStderr() }),
    message: shown(question),
    maxItems: VISIBLE,
    options: answers.map(({ value, label }) => ({ value, label: shown(label) })),
  });
  return isCancel(chosen) ? undefined : (chosen as T);
}

/** The default is no. */
export async function confirm(question: string): Promise<boolean> {
  const prompts = await import('@clack/prompts');
  return (await prompts.confirm({ message: shown(question), initialValue: false })) === true;
}

/** Undefined when the person cancelled or entered nothing. */
export async function askText(question: string): Promise<string | undefined> {
  const { text, isCancel } = await import('@clack/prompts');
  const said = await text({ message: shown(question) });
  return isCancel(said) || said.trim() === '' ? undefined : said;
}
