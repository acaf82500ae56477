/** A command of Copse: one of commander, with its explanations and examples as data for help, man pages and tests. */

import { Command } from 'commander';

export interface Example {
  readonly line: string;
  readonly why: string;
}

export class CopseCommand extends Command {
  readonly explanations: string[] = [];
  readonly exampleLines: Example[] = [];

  override createCommand(name?: string): CopseCommand {
    return new CopseCommand(name);
  }

  /** A paragraph below the options. */
  details(text: string): this {
    this.explanations.push(text);
    return this.addHelpText('after', `\n${text}`);
  }

  examples(rows: readonly (readonly [line: string, why: string])[]): this {
    this.exampleLines.push(...rows.map(([line, why]) => ({ line, why })));
    return this.addHelpText('after', exampleText(rows));
  }
}

function exampleText(rows: readonly (readonly [line: string, why: string])[]): string {
  const width = Math.max(...rows.map(([line]) => line.length));
  const lines = rows.map(([line, why]) => `  ${why ? line.padEnd(width + 2) + why : line}`);
  return `\nExamples:\n${lines.join('\n')}\n`;
}
