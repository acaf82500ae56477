/**
 * All commands, their arguments and their help. The code of a command is loaded when it runs; only `list` and `show`, the most
 * used ones, are loaded with this file, which is faster.
 */

import { Command } from 'commander';

import { ledgerKinds } from '../../tasks/rules/ledger.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { openPhases } from '../../agents/rules/session/session.ts';
import { taskKinds, taskStatuses } from '../../tasks/rules/task.ts';
import { refuseSessions } from '../by-session.ts';
import { run as list } from '../commands/tasks/list.ts';
import { run as show } from '../commands/tasks/show.ts';
import type { Cli } from '../invocation.ts';
import { noticeChanges } from '../pending.ts';
import { type Group, type On, type Run, examples } from './parts.ts';
import { addBoardCommands } from './board.ts';
import { addQueueCommands } from './queue.ts';
import { runGroups } from './run.ts';

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const byComma = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value.split(',').map((word) => word.trim()),
];

/** With the first word of the command line, only the group of that command is set up, which is faster. */
export function createProgram(cli: Cli, first?: string): Command {
  const program = new Command('copse')
    .description('Runs many coding agents on one git repository, and lands their work through a merge queue.')
    .version(cli.version)
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ subcommandTerm: nameOf, groupItems: inGroups })
    .addHelpCommand(helpCommand())
    .configureOutput({
      writeOut: (text) => void cli.output.raw(text),
      // main.ts prints errors; only help for a missing subcommand comes through here.
      writeErr: (text) => void (text.startsWith('error:') || cli.output.note(text.trimEnd())),
    })
    .addHelpText(
      'after',
      examples([
        ['copse demo', 'see how it works'],
        ['copse add "Rename the config loader"', 'add a task'],
        ['copse orchestrate', 'let agents work on the tasks'],
        ['copse show a1b2', 'the beginning of an id is enough'],
      ]),
    );

  const on = (load: () => Promise<{ readonly run: Run }>) =>
    async function action(this: Command): Promise<void> {
      refuseSessions(cli, pathOf(this), this.args);
      await noticeChanges(cli, pathOf(this));
      const { run } = await load();
      await run({ cli, program, words: this.args, options: this.optsWithGlobals() });
    };

  const needed = groups.filter(({ names }) => first !== undefined && names.includes(first));
  for (const { add } of needed.length > 0 ? needed : groups) add(program, on);
  return program;
}

const groups: readonly Group[] = [
  { names: ['add'], add: addAddCommand },
  { names: ['show'], add: addShowCommand },
  { names: ['list', 'ls'], add: addListCommand },
  { names: ['edit', 'delete', 'rm'], add: addEditCommands },
  { names: ['plan', 'prd'], add: addPlanCommands },
  { names: ['ledger'], add: addLedgerCommands },
  { names: ['events', 'export', 'import', 'board'], add: addBoardCommands },
  { names: ['work', 'tend'], add: addWorkCommands },
  { names: ['worktrees'], add: addWorktreesCommand },
  { names: ['cleanup', 'sync', 'diff'], add: addWorktreeCommands },
  { names: ['finish', 'stuck', 'phase', 'heartbeat', 'hook'], add: addReportCommands },
  { names: ['rescue', 'undo'], add: addRescueCommands },
  ...runGroups,
  { names: ['queue'], add: addQueueCommands },
  { names: ['config', 'doctor'], add: addSetUpCommands },
];

function addAddCommand(program: Command, on: On): void {
  program.commandsGroup('Tasks:');
  const { priority, kind } = defaultPolicy.task;
  definitionOptions(program.command('add').argument('<title...>', 'what to do, in a few words'))
    .description('Add a task to the board.')
    .option('--body <text>', 'the whole assignment')
    .option('--body-file <file>', 'the whole assignment, from a file (- for standard input)')
    .option('--depends <ids>', 'tasks that must be done first (repeat or separate by commas)', byComma)
    .option('--json', 'print the task as JSON')
    .addHelpText('after', `\nWithout options, a task is p${priority}, of kind ${kind}, and for any agent.\n`)
    .addHelpText(
      'after',
      examples([
        ['copse add "Add a login page" --priority p5 --area "src/auth/**"', ''],
        ['copse add "Document the API" --depends cp-a1b2 --accept "npm run docs"', ''],
      ]),
    )
    .action(on(() => import('../commands/tasks/add.ts')));
}

function addShowCommand(program: Command, on: On): void {
  program.commandsGroup('Tasks:');
  program
    .command('show')
    .argument('<id>', 'a task id, or the unique beginning of one')
    .description('Show a task with its ledger and artifacts.')
    .option('--json', 'print the task as JSON')
    .addHelpText('after', examples([['copse show a1b2', '']]))
    .action(on(() => Promise.resolve({ run: show })));
}

function addListCommand(program: Command, on: On): void {
  program.commandsGroup('Tasks:');
  program
    .command('list')
    .alias('ls')
    .description('List the tasks: active ones first, finished ones below.')
    .option('--status <statuses>', `only these: ${taskStatuses.join(', ')}`, byComma)
    .option('--plan <id>', 'only the tasks of this plan')
    .option('--agent <name>', 'only the tasks for this agent')
    .option('--all', 'all finished tasks, not only the latest')
    .option('--sort <order>', 'age, priority, status, title or updated (default: status)')
    .option('--limit <n>', 'at most n tasks')
    .option('--watch', 'show it again whenever it changes, until Ctrl+C')
    .option('--json', 'print { "tasks": [...], "hasMore" }')
    .addHelpText(
      'after',
      '\nOn a terminal, lines are cut to its width; the whole reason of a task: copse why <id>',
    )
    .addHelpText(
      'after',
      examples([
        ['copse list --status stuck,in_review,needs_attention,failed', 'which tasks wait for you'],
        ['copse list --sort age --limit 10', 'which tasks have not changed for longest'],
      ]),
    )
    .action(on(() => Promise.resolve({ run: list })));
}

function addEditCommands(program: Command, on: On): void {
  program.commandsGroup('Tasks:');
  definitionOptions(program.command('edit').argument('<id>', 'a task id, or the unique beginning of one'))
    .description('Change a task.')
    .option('--title <title>', 'a new title')
    .option('--body <text>', 'the whole assignment')
    .option('--body-file <file>', 'the whole assignment, from a file (- for standard input)')
    .option('--depends <ids>', 'more tasks that must be done first', byComma)
    .option('--not-depends <ids>', 'tasks that it no longer waits for', byComma)
    .option('--no-area', 'no areas')
    .option('--no-requires', 'no required capabilities')
    .option('--no-accept', 'no accept commands')
    .option('--no-plan', 'no plan')
    .option('--no-agent', 'any agent')
    .option('--json', 'print the task as JSON')
    .addHelpText(
      'after',
      '\nAreas, capabilities and accept commands replace the old ones; dependencies are added.\n',
    )
    .addHelpText('after', examples([['copse edit a1b2 --priority p5 --depends cp-c3d4', '']]))
    .action(on(() => import('../commands/tasks/edit.ts')));

  program
    .command('delete')
    .alias('rm')
    .argument('<ids...>', 'task ids, or unique beginnings of them')
    .description('Delete tasks, stop their agents and remove their worktrees.')
    .option('--unlink', 'also if other tasks wait for them; those stop waiting')
    .option('--keep-worktree', 'leave their worktrees as they are')
    .option('--yes', 'do not ask')
    .option('--json', 'print { "deleted": [...] }')
    .addHelpText(
      'after',
      '\nUncommitted files are rescued first, and copse undo brings a worktree back. Branches and events stay.',
    )
    .addHelpText(
      'after',
      examples([
        ['copse delete a1b2 c3d4', ''],
        ['copse delete a1b2 --keep-worktree --yes', 'in a script'],
      ]),
    )
    .action(on(() => import('../commands/tasks/delete.ts')));
}

function definitionOptions(command: Command): Command {
  return command
    .option('--priority <p1-p5>', 'p5 is the most urgent')
    .option(
      '--area <glob>',
      'paths that it will change; tasks with overlapping areas run one after another (repeat)',
      several,
    )
    .option(
      '--requires <capabilities>',
      'capabilities that its agent must have (repeat or separate by commas)',
      byComma,
    )
    .option('--plan <id>', 'the plan it belongs to')
    .option('--agent <name>', 'only this agent may take it')
    .option(
      '--accept <command>',
      'a command that must pass before the work counts as finished (repeat)',
      several,
    )
    .option('--kind <kind>', taskKinds.join(', '));
}

function addPlanCommands(program: Command, on: On): void {
  program.commandsGroup('Tasks:');
  const plan = program.command('plan').alias('prd').description('Plans: documents that group tasks.');
  plan
    .command('add')
    .argument('<title...>', 'the title of the plan')
    .description('Add a plan.')
    .option('--body <text>', 'the text of the plan')
    .option('--body-file <file>', 'the text of the plan, from a file (- for standard input)')
    .option('--json', 'print the plan as JSON')
    .addHelpText('after', examples([['copse plan add "Passwordless login" --body-file plans/login.md', '']]))
    .action(on(() => import('../commands/plans/plan-add.ts')));
  plan
    .command('show')
    .argument('<id>', 'a plan id, or the unique beginning of one')
    .description('Show a plan and its tasks.')
    .option('--json', 'print the plan as JSON')
    .addHelpText('after', examples([['copse plan show pl-a1b2', '']]))
    .action(on(() => import('../commands/plans/plan-show.ts')));
  plan
    .command('list')
    .description('List the plans.')
    .option('--json', 'print { "plans": [...] }')
    .addHelpText('after', examples([['copse plan list --json', '']]))
    .action(on(() => import('../commands/plans/plan-list.ts')));
}

function addLedgerCommands(program: Command, on: On): void {
  program.commandsGroup('Tasks:');
  const ledger = program
    .command('ledger')
    .description('Notes of a task: learnings, decisions, handoffs, crashes.');
  ledger
    .command('add')
    .argument('<kind>', ledgerKinds.join(', '))
    .argument('<text...>', 'what the next agent should know (- for standard input)')
    .description('Add an entry to the ledger of a task.')
    .option('--task <id>', 'the task (default: COPSE_TASK_ID, or the task of the current worktree)')
    .option('--json', 'print the entry as JSON')
    .addHelpText(
      'after',
      examples([
        ['copse ledger add learning "Migrations must run before the tests" --task a1b2', ''],
        ['copse ledger add handoff "The parser is done, the printer is not"', 'in its worktree'],
      ]),
    )
    .action(on(() => import('../commands/plans/ledger-add.ts')));
  ledger
    .command('list')
    .argument('[id]', 'a task id, or the unique beginning of one (default: COPSE_TASK_ID)')
    .description('List the ledger of a task.')
    .option('--task <id>', 'the same as the argument')
    .option('--json', 'print { "entries": [...] }')
    .addHelpText('after', examples([['copse ledger list a1b2', '']]))
    .action(on(() => import('../commands/plans/ledger-list.ts')));
}

function addWorkCommands(program: Command, on: On): void {
  program.commandsGroup('Worktrees:');
  program
    .command('work')
    .argument('[id]', 'a task (default: choose among the ready tasks)')
    .description('Take a task and create a worktree for it.')
    .option('--resume', 'continue in its existing worktree')
    .option('--reset', 'start over from the base; its contents are rescued first')
    .option('--json', 'print { "task", "worktree", "branch", "base", "reused", … }')
    .addHelpText(
      'after',
      examples([
        ['copse work', 'choose a task that is ready'],
        ['copse work a1b2 --resume', 'continue in its worktree'],
      ]),
    )
    .action(on(() => import('../commands/workspaces/work.ts')));
  program
    .command('tend')
    .description('Free disk space and refill the worktree pool.')
    .option('--json', 'print { "thinned", "deleted", "pool" }')
    .addHelpText('after', examples([['copse tend', 'Copse also runs it in the background']]))
    .action(on(() => import('../commands/workspaces/tend.ts')));
}

function addWorktreesCommand(program: Command, on: On): void {
  program.commandsGroup('Worktrees:');
  program
    .command('worktrees')
    .description('List the worktrees of tasks on this machine.')
    .option('--all', 'also pooled worktrees and worktrees not created by Copse')
    .option('--size', 'their sizes on the disk, counted for at most 2 s')
    .option('--json', 'print { "worktrees": [...] }')
    .addHelpText(
      'after',
      examples([
        ['copse worktrees --all', ''],
        ['copse worktrees --size', 'which ones fill the disk'],
      ]),
    )
    .action(on(() => import('../commands/workspaces/worktrees.ts')));
}

function addWorktreeCommands(program: Command, on: On): void {
  program.commandsGroup('Worktrees:');
  program
    .command('cleanup')
    .argument('[id]', 'a task (default: all done or cancelled tasks)')
    .description('Remove worktrees; copse undo brings them back.')
    .option('--yes', 'do not ask; uncommitted files are still rescued')
    .option('--force', 'as --yes, and end its agent')
    .option('--delete-branch', 'also delete its branch, even if it is not merged')
    .option('--json', 'print { "removed": [...], "kept": [...] }')
    .addHelpText('after', examples([['copse cleanup a1b2 --force', '']]))
    .action(on(() => import('../commands/workspaces/cleanup.ts')));
  program
    .command('sync')
    .argument('[id]', 'a task (default: the task of the current worktree)')
    .description('Bring the newest base into the branch of a task.')
    .option('--conflict', 'leave a conflict in the worktree, to resolve it there')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', examples([['copse sync a1b2', '']]))
    .action(on(() => import('../commands/workspaces/sync.ts')));
  program
    .command('diff')
    .argument('[id]', 'a task (default: the task of the current worktree)')
    .description('Show the changes of a task’s branch.')
    .option('--stat', 'only the files and numbers of lines')
    .option('--uncommitted', 'include uncommitted changes')
    .option('--json', 'print the files and the patch as JSON')
    .addHelpText('after', examples([['copse diff a1b2 > a1b2.patch', 'for git apply']]))
    .action(on(() => import('../commands/workspaces/diff.ts')));
}

function addReportCommands(program: Command, on: On): void {
  program.commandsGroup('Called by agents:');
  const id = '[id]';
  const about = 'a task (default: the task of the current worktree)';
  program
    .command('finish')
    .argument(id, about)
    .description('Report a task as finished and committed, then stop.')
    .option('--no-changes', 'there was nothing to change')
    .option('--summary <text>', 'what was done, in one or two lines')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      examples([
        ['copse finish --summary "Refuse empty tokens"', ''],
        ['copse finish --no-changes', 'it was already done'],
      ]),
    )
    .action(on(() => import('../commands/agents/finish.ts')));
  program
    .command('stuck')
    .argument(id, about)
    .description('Ask a person for a decision, then stop.')
    .option('--reason <text>', 'the question and the choices (- for standard input)')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', examples([['copse stuck --reason "Delete the old table, or keep both?"', '']]))
    .action(on(() => import('../commands/agents/stuck.ts')));
  program
    .command('phase')
    .argument('<phase>', openPhases.join(', '))
    .argument(id, about)
    .description('Report the phase of the work; phases only go forward.')
    .option('--json', 'print { "task", "phase" }')
    .addHelpText('after', examples([['copse phase working', '']]))
    .action(on(() => import('../commands/agents/phase.ts')));
  program
    .command('heartbeat')
    .argument(id, about)
    .description('Renew the lease of a task during long work.')
    .option('--json', 'print { "task", "alive" }')
    .addHelpText('after', examples([['copse heartbeat', '']]))
    .action(on(() => import('../commands/agents/heartbeat.ts')));
  program
    .command('hook', { hidden: true })
    .argument('<kind>', 'stop, permission or notice')
    .description('Pass the question of an agent program’s hook to the runner.')
    .option('--timeout <seconds>', 'the longest time to wait for an answer')
    .action(on(() => import('../commands/agents/hook.ts')));
}

function addRescueCommands(program: Command, on: On): void {
  program.commandsGroup('Worktrees:');
  const rescue = program.command('rescue').description('Snapshots of worktrees that were removed or reset.');
  rescue
    .command('list')
    .argument('[id]', 'only rescues of this task')
    .description('List the rescues, the latest first.')
    .option('--json', 'print { "rescues": [...] }')
    .addHelpText('after', examples([['copse rescue list a1b2', '']]))
    .action(on(() => import('../commands/workspaces/rescue-list.ts')));
  rescue
    .command('show')
    .argument('<ref>', 'a rescue: its ref, or a part of it that no other rescue has')
    .description('Show the contents of a rescue.')
    .option('--json', 'print the rescue and its changes as JSON')
    .addHelpText('after', examples([['copse rescue show cp-a1b2', '']]))
    .action(on(() => import('../commands/workspaces/rescue-show.ts')));
  rescue
    .command('restore')
    .argument('<ref>', 'a rescue: its ref, or a part of it that no other rescue has')
    .description('Restore a rescue; newer files are never overwritten.')
    .option('--into <folder>', 'a checkout of this repository (default: the worktree of its task)')
    .option('--json', 'print the folder and the number of files as JSON')
    .addHelpText('after', examples([['copse rescue restore cp-a1b2 --into .', '']]))
    .action(on(() => import('../commands/workspaces/rescue-restore.ts')));
  rescue
    .command('move')
    .argument('<id>', 'the task whose worktree gets the files')
    .argument('[paths...]', 'files of the main checkout (default: the files that its session changed)')
    .description('Move changes from the main checkout into a worktree.')
    .option('--json', 'print the moved and the remaining files as JSON')
    .addHelpText('after', examples([['copse rescue move a1b2 src/login.ts', '']]))
    .action(on(() => import('../commands/workspaces/rescue-move.ts')));
  program
    .command('undo')
    .argument('[id]', 'a task (default: the latest removed or reset worktree)')
    .description('Undo a landing, or the removal or reset of a worktree.')
    .option('--dry-run', 'of a landing: only show what would be reverted')
    .option('--worktree', 'of a landed task: bring back its worktree instead')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nA landing is undone by a new task that lands through the queue, and can be undone as well.',
    )
    .addHelpText('after', examples([['copse undo a1b2 --dry-run', '']]))
    .action(on(() => import('../commands/workspaces/undo.ts')));
}

function addSetUpCommands(program: Command, on: On): void {
  program.commandsGroup('Set up:');
  program
    .command('config')
    .argument('[what]', 'show, check, accept, schema or accept-remotes', 'show')
    .description('Show or check the configuration; accept changed settings or remotes.')
    .option('--yes', 'with accept: without asking')
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      '\nCopse uses copse.yml and the set-up files of the repository as you accepted them. A change of one of them, by a\nlanding too, counts after `copse config accept` has shown it.',
    )
    .addHelpText(
      'after',
      examples([
        ['copse config check', ''],
        ['copse config accept', 'show what changed, and ask'],
      ]),
    )
    .action(on(() => import('../commands/setup/config.ts')));
  program
    .command('doctor')
    .description('Check this machine, this repository and its board.')
    .option('--json', 'print { "checks": [...] }')
    .addHelpText('after', examples([['copse doctor', '']]))
    .action(on(() => import('../commands/setup/doctor.ts')));
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .description('Print a completion script for your shell.')
    .addHelpText('after', examples([['source <(copse completion bash)', 'in ~/.bashrc']]))
    .action(on(() => import('../commands/setup/completion.ts')));
}

/** The order of the groups in `copse --help`. */
const helpGroups = [
  'Options:',
  'Set up:',
  'Tasks:',
  'Run agents:',
  'Review and land:',
  'Worktrees:',
  'Board:',
  'Called by agents:',
];

function inGroups<T>(_: readonly T[], visible: readonly T[], groupOf: (item: T) => string): Map<string, T[]> {
  const groups = Map.groupBy(visible, groupOf);
  const rank = (group: string) => helpGroups.indexOf(group) + 1 || helpGroups.length + 1;
  return new Map([...groups].toSorted(([one], [other]) => rank(one) - rank(other)));
}

/** Without arguments and options, so that each command has one line. */
function nameOf(command: Command): string {
  return [command.name(), ...command.aliases()].join('|');
}

function helpCommand(): Command {
  return new Command('help')
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
