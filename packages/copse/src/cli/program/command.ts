/**
 * A command of Copse: one of commander, with its explanations and examples as data for help, man pages and tests. Help is as
 * wide as the terminal and at most 80 columns.
 */

import { Command } from 'commander';

import { wrapped } from './wrap.ts';

export interface Example {
  readonly line: string;
  readonly why: string;
}

export class CopseCommand extends Command {
  readonly explanations: string[] = [];
  readonly exampleLines: Example[] = [];

  override createCommand(name?: string): CopseCommand {
    // `copse help plan` and `copse plan --help` are enough.
    return new CopseCommand(name).helpCommand(false);
  }

  /** A paragraph below the options. */
  details(text: string): this {
    this.explanations.push(text);
    return this.addHelpText('after', () => `\n${wrapped(text, this.helpColumns()).join('\n')}`);
  }

  examples(rows: readonly (readonly [line: string, why: string])[]): this {
    this.exampleLines.push(...rows.map(([line, why]) => ({ line, why })));
    return this.addHelpText('after', () => exampleText(this.exampleLines, this.helpColumns()));
  }

  helpColumns(): number {
    return this.configureOutput().getOutHelpWidth?.() ?? HELP_COLUMNS;
  }

  /** `plan show`, by the names of commands, not by their aliases. */
  path(): string {
    if (!(this.parent instanceof CopseCommand)) return '';
    return `${this.parent.path()} ${this.name()}`.trimStart();
  }
}

export const HELP_COLUMNS = 80;

const MARGIN = '  ';

/** Reasons stand beside their lines, or below them where that is too wide. */
function exampleText(rows: readonly Example[], columns: number): string {
  const width = Math.max(...rows.map(({ line }) => line.length));
  const beside = rows.map(({ line, why }) => `${MARGIN}${why ? line.padEnd(width + 2) + why : line}`);
  const below = rows.flatMap(({ line, why }) => [
    `${MARGIN}${line}`,
    ...(why === '' ? [] : wrapped(why, columns - 6).map((text) => `${MARGIN}    ${text}`)),
  ]);
  const lines = beside.some((line) => line.length > columns) ? below : beside;
  return `\nExamples:\n${lines.join('\n')}\n`;
}
