/**
 * The whole command line. Each help group has a file in groups/, which declares its commands. The code of a command is loaded
 * when it runs; only `list` and `show`, the most used ones, are loaded with this file, which is faster.
 */

import type { Command } from 'commander';

import { refuseSessions } from '../by-session.ts';
import type { Cli } from '../invocation.ts';
import { noticeChanges } from '../pending.ts';
import { CopseCommand } from './command.ts';
import { agentsCommands } from './groups/agents.ts';
import { boardCommands } from './groups/board.ts';
import { dailyCommands } from './groups/daily.ts';
import { forAgentsCommands } from './groups/for-agents.ts';
import { landingCommands } from './groups/landing.ts';
import { setUpCommands } from './groups/set-up.ts';
import { tasksCommands } from './groups/tasks.ts';
import { worktreesCommands } from './groups/worktrees.ts';
import type { CommandEntry, Run } from './parts.ts';

/** In the order of `copse --help`. */
const groups: readonly (readonly [heading: string, commands: readonly CommandEntry[]])[] = [
  ['Daily:', dailyCommands],
  ['Tasks:', tasksCommands],
  ['Agents:', agentsCommands],
  ['Worktrees:', worktreesCommands],
  ['Landing:', landingCommands],
  ['Set up:', setUpCommands],
  ['Board:', boardCommands],
  ['For agents:', forAgentsCommands],
];

/** With the first word of the command line, only that command is set up, which is faster. */
export function createProgram(cli: Cli, first?: string): CopseCommand {
  const program = new CopseCommand('copse')
    .description('Runs many coding agents on one git repository, and lands their work through a merge queue.')
    .version(cli.version)
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ subcommandTerm: nameOf })
    .addHelpCommand(helpCommand())
    .configureOutput({
      writeOut: (text) => void cli.output.raw(text),
      // main.ts prints errors; only help for a missing subcommand comes through here.
      writeErr: (text) => void (text.startsWith('error:') || cli.output.note(text.trimEnd())),
    })
    .examples([
      ['copse demo', 'see how it works'],
      ['copse add "Rename the config loader"', 'add a task'],
      ['copse orchestrate', 'let agents work on the tasks'],
      ['copse show a1b2', 'the beginning of an id is enough'],
    ]);

  const on = (load: () => Promise<{ readonly run: Run }>) =>
    async function action(this: Command): Promise<void> {
      refuseSessions(cli, pathOf(this), this.args);
      await noticeChanges(cli, pathOf(this));
      const { run } = await load();
      await run({ cli, program, words: this.args, options: this.optsWithGlobals() });
    };

  const isNamed = groups.some(([, commands]) => commands.some(({ names }) => names.includes(first ?? '')));
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading);
    for (const { names, add } of commands) if (!isNamed || names.includes(first ?? '')) add(program, on);
  }
  return program;
}

/** Without arguments and options, so that each command has one line. */
function nameOf(command: Command): string {
  return [command.name(), ...command.aliases()].join('|');
}

function helpCommand(): Command {
  return new CopseCommand('help')
    .argument('[command]')
    .description('Show the help of a command.')
    .helpGroup('Set up:');
}

/** `plan show`, by the names of commands, not by their aliases. */
function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}
