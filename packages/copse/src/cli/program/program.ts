/**
 * The whole command line. Each help group has a file in groups/, which declares its commands. The code of a command is loaded
 * when it runs; only `list` and `show`, the most used ones, are loaded with this file, which is faster.
 */

import type { Command } from 'commander';

import { refuseSessions } from '../by-session.ts';
import type { Cli } from '../invocation.ts';
import { noticeChanges } from '../pending.ts';
import { CopseCommand, HELP_COLUMNS } from './command.ts';
import { agentsCommands } from './groups/agents.ts';
import { boardCommands } from './groups/board.ts';
import { dailyCommands } from './groups/daily.ts';
import { forAgentsCommands } from './groups/for-agents.ts';
import { landingCommands } from './groups/landing.ts';
import { intakeCommands } from './groups/intake.ts';
import { machinesCommands } from './groups/machines.ts';
import { setUpCommands } from './groups/set-up.ts';
import { tasksCommands } from './groups/tasks.ts';
import { worktreesCommands } from './groups/worktrees.ts';
import { wholeHelp } from './help.ts';
import type { CommandEntry, Run } from './parts.ts';
import { refusePlaceholders } from './placeholders.ts';

/** In the order of `copse --help`. */
const groups: readonly (readonly [heading: string, commands: readonly CommandEntry[]])[] = [
  ['Daily', dailyCommands],
  ['Tasks', tasksCommands],
  ['Agents', agentsCommands],
  ['Worktrees', worktreesCommands],
  ['Landing', landingCommands],
  ['Work that comes in', intakeCommands],
  ['Machines', machinesCommands],
  ['Set-up', [...setUpCommands, ...boardCommands]],
  ['For agents', forAgentsCommands],
];

/** With the first word of the command line, only that command is set up, which is faster. */
export function createProgram(cli: Cli, first?: string): CopseCommand {
  const program = new CopseCommand('copse');
  const columns = () => Math.min(HELP_COLUMNS, cli.output.columns());
  program
    .usage('<command> [options]')
    .description('Runs many coding agents on one git repository, and lands their work.')
    .version(cli.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    // main.ts suggests, and only commands that change nothing.
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .configureHelp({ subcommandTerm: nameOf })
    .configureOutput({
      writeOut: (text) => void cli.output.raw(text),
      // main.ts prints errors, those for a missing command too.
      writeErr: () => {},
      getOutHelpWidth: columns,
      getErrHelpWidth: columns,
    });
  program.helpInformation = () => wholeHelp(program, columns());

  const on = (load: () => Promise<{ readonly run: Run }>) =>
    async function action(this: Command): Promise<void> {
      const path = (this as CopseCommand).path();
      refuseSessions(cli, path, this.args);
      refusePlaceholders(path, this.args, this.optsWithGlobals());
      await noticeChanges(cli, path);
      const { run } = await load();
      await run({ cli, program, words: this.args, options: this.optsWithGlobals() });
    };

  const isFirst = ({ names }: CommandEntry) => first !== undefined && names.includes(first);
  const named = groups.flatMap(([, commands]) => commands).find(isFirst);
  const isOne = named !== undefined && named.needsAll !== true;
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading);
    for (const entry of commands) if (!isOne || isFirst(entry)) entry.add(program, on);
  }
  return program;
}

/** Without arguments and options, so that each command has one line. */
function nameOf(command: Command): string {
  return [command.name(), ...command.aliases()].join('|');
}
