/**
 * All commands, their arguments and their help. What they do is loaded when they run: a command pays for itself,
 * not for the others. The two that are run most are loaded with this, because another file costs more than they do.
 */

import { Command } from 'commander';

import { ledgerKinds } from '../tasks/rules/ledger.ts';
import { defaultPolicy } from '../kernel/policy.ts';
import { openPhases } from '../agents/rules/session/session.ts';
import { taskKinds, taskStatuses } from '../tasks/rules/task.ts';
import { refuseSessions } from './by-session.ts';
import { run as list } from './commands/tasks/list.ts';
import { run as show } from './commands/tasks/show.ts';
import type { Cli } from './invocation.ts';
import { type Group, type On, type Run, examples } from './program-parts.ts';
import { addQueueCommands } from './program-queue.ts';
import { runGroups } from './program-run.ts';

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const byComma = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value.split(',').map((word) => word.trim()),
];

/**
 * With the name of the command that is about to run, only its group is set up: the others cost as much as it does. What
 * people run all day is a group of its own.
 */
export function createProgram(cli: Cli, first?: string): Command {
  const program = new Command('copse')
    .description('Runs many coding agents on one git repository and lands their work safely.')
    .version(cli.version)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => void cli.output.raw(text),
      // Errors are written in one style, in main.ts; only help that was not asked for comes through here.
      writeErr: (text) => void (text.startsWith('error:') || cli.output.note(text.trimEnd())),
    })
    .addHelpText(
      'after',
      examples([
        ['copse add "Rename the config loader"', 'hand out work'],
        ['copse list', 'see everything on the board'],
        ['copse show cp-a1b2', 'any unique beginning of an id will do'],
        ['copse work a1b2', 'get a worktree for it'],
      ]),
    );

  const on = (load: () => Promise<{ readonly run: Run }>) =>
    async function action(this: Command): Promise<void> {
      refuseSessions(cli, pathOf(this), this.args);
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
  { names: ['events', 'export', 'import'], add: addBoardCommands },
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
  const { priority, kind } = defaultPolicy.task;
  definitionOptions(program.command('add').argument('<title...>', 'what is to be done, in a few words'))
    .description('Add a task to the board.')
    .option('--body <text>', 'the whole assignment')
    .option('--body-file <file>', 'the whole assignment, from a file (- for standard input)')
    .option('--depends <ids>', 'tasks that must be done first (repeat or separate by commas)', byComma)
    .option('--json', 'print the task as JSON')
    .addHelpText(
      'after',
      `\nWithout options a task is p${priority}, of kind ${kind}, and any agent may take it.\n`,
    )
    .addHelpText(
      'after',
      examples([
        ['copse add "Add a login page" --priority p5 --area "src/auth/**"', ''],
        ['copse add "Document the API" --depends cp-a1b2 --accept "npm run docs"', ''],
      ]),
    )
    .action(on(() => import('./commands/tasks/add.ts')));
}

function addShowCommand(program: Command, on: On): void {
  program
    .command('show')
    .argument('<id>', 'a task, by any unique beginning of its id')
    .description('Show one task with its ledger and its artifacts.')
    .option('--json', 'print the task as JSON')
    .action(on(() => Promise.resolve({ run: show })));
}

function addListCommand(program: Command, on: On): void {
  program
    .command('list')
    .alias('ls')
    .description('List the tasks on the board: live ones first, finished ones below.')
    .option('--status <statuses>', `only these: ${taskStatuses.join(', ')}`, byComma)
    .option('--plan <id>', 'only the tasks of this plan')
    .option('--agent <name>', 'only the tasks meant for this agent')
    .option('--all', 'all finished tasks, not just the latest')
    .option('--json', 'print { "tasks": [...] }')
    .addHelpText('after', examples([['copse list --status stuck,needs_attention', 'what waits for you']]))
    .action(on(() => Promise.resolve({ run: list })));
}

function addEditCommands(program: Command, on: On): void {
  definitionOptions(program.command('edit').argument('<id>', 'a task, by any unique beginning of its id'))
    .description('Change what a task says.')
    .option('--title <title>', 'a new title')
    .option('--body <text>', 'the whole assignment')
    .option('--body-file <file>', 'the whole assignment, from a file (- for standard input)')
    .option('--depends <ids>', 'further tasks that must be done first', byComma)
    .option('--not-depends <ids>', 'tasks it no longer waits for', byComma)
    .option('--no-area', 'no areas')
    .option('--no-requires', 'no required capabilities')
    .option('--no-accept', 'no accept commands')
    .option('--no-plan', 'no plan')
    .option('--no-agent', 'any agent')
    .option('--json', 'print the task as JSON')
    .addHelpText(
      'after',
      '\nAreas, capabilities and accept commands replace the ones that are there; dependencies are added.\n',
    )
    .addHelpText('after', examples([['copse edit a1b2 --priority p5 --depends cp-c3d4', '']]))
    .action(on(() => import('./commands/tasks/edit.ts')));

  program
    .command('delete')
    .alias('rm')
    .argument('<ids...>', 'tasks, by any unique beginning of their ids')
    .description('Delete tasks from the board. Their events stay.')
    .option('--unlink', 'also when others wait for them: those then wait no longer')
    .option('--json', 'print { "deleted": [...] }')
    .action(on(() => import('./commands/tasks/delete.ts')));
}

function definitionOptions(command: Command): Command {
  return command
    .option('--priority <p1-p5>', 'p5 is the most urgent')
    .option('--area <glob>', 'paths it will touch; overlapping areas run one after another (repeat)', several)
    .option('--requires <capabilities>', 'what an agent must be able to do (repeat or commas)', byComma)
    .option('--plan <id>', 'the plan it belongs to')
    .option('--agent <name>', 'only this agent may take it')
    .option('--accept <command>', 'must succeed before the work counts as finished (repeat)', several)
    .option('--kind <kind>', taskKinds.join(', '));
}

function addPlanCommands(program: Command, on: On): void {
  const plan = program
    .command('plan')
    .alias('prd')
    .description('Plans: documents that group tasks and explain why.');
  plan
    .command('add')
    .argument('<title...>', 'what the plan is about')
    .description('Add a plan.')
    .option('--body <text>', 'the plan itself')
    .option('--body-file <file>', 'the plan itself, from a file (- for standard input)')
    .option('--json', 'print the plan as JSON')
    .addHelpText('after', examples([['copse plan add "Passwordless login" --body-file plans/login.md', '']]))
    .action(on(() => import('./commands/plans/plan-add.ts')));
  plan
    .command('show')
    .argument('<id>', 'a plan, by any unique beginning of its id')
    .description('Show a plan, its tasks and how far they are.')
    .option('--json', 'print the plan as JSON')
    .action(on(() => import('./commands/plans/plan-show.ts')));
  plan
    .command('list')
    .description('List the plans.')
    .option('--json', 'print { "plans": [...] }')
    .action(on(() => import('./commands/plans/plan-list.ts')));
}

function addLedgerCommands(program: Command, on: On): void {
  const ledger = program
    .command('ledger')
    .description('What was learned, decided, handed over or broke, per task.');
  ledger
    .command('add')
    .argument('<kind>', ledgerKinds.join(', '))
    .argument('<text...>', 'what the next one should know (- for standard input)')
    .description('Add an entry to the ledger of a task.')
    .option('--task <id>', 'the task (default: COPSE_TASK_ID, which agents have, or the worktree you are in)')
    .option('--json', 'print the entry as JSON')
    .addHelpText(
      'after',
      examples([
        ['copse ledger add learning "Migrations must run before the tests" --task a1b2', ''],
        ['copse ledger add handoff "The parser is done, the printer is not"', 'in its worktree'],
      ]),
    )
    .action(on(() => import('./commands/plans/ledger-add.ts')));
  ledger
    .command('list')
    .description('List the ledger of a task.')
    .option('--task <id>', 'the task (default: COPSE_TASK_ID, which agents have)')
    .option('--json', 'print { "entries": [...] }')
    .action(on(() => import('./commands/plans/ledger-list.ts')));
}

function addBoardCommands(program: Command, on: On): void {
  program
    .command('events')
    .description('Show what happened on the board, oldest first.')
    .option('--task <id>', 'only what concerns this task')
    .option('--after <number>', 'only events with a higher number')
    .option('--last <count>', 'only the latest ones')
    .option('-f, --follow', 'go on as things happen, until Ctrl+C')
    .option('--json', 'print one JSON document per line')
    .addHelpText('after', examples([['copse events --follow --json', 'for scripts and integrations']]))
    .action(on(() => import('./commands/setup/events.ts')));
  program
    .command('export')
    .argument('[file]', 'where to write it (default: standard output)')
    .description('Write everything on the board as JSON lines.')
    .option('--force', 'replace a file that is there')
    .action(on(() => import('./commands/setup/export.ts')));
  program
    .command('import')
    .argument('<file>', 'an export (- for standard input)')
    .description('Read an export into this repository’s board, which must be empty.')
    .option('--json', 'print what was imported as JSON')
    .addHelpText(
      'after',
      examples([
        ['copse export board.jsonl', ''],
        ['COPSE_BOARD=postgres://db.example/team copse import board.jsonl', 'move to PostgreSQL'],
      ]),
    )
    .action(on(() => import('./commands/setup/import.ts')));
}

function addWorkCommands(program: Command, on: On): void {
  program
    .command('work')
    .argument('[id]', 'a task; without one you choose among those that are ready')
    .description('Take a task and get a worktree of its own for it.')
    .option('--resume', 'go on with the worktree that is there')
    .option('--reset', 'start over from the base; what is in the worktree is rescued first')
    .option('--json', 'print { "task", "worktree", "branch", "base", "reused", … }')
    .addHelpText(
      'after',
      examples([
        ['copse work', 'choose a task that is ready'],
        ['copse work a1b2 --resume', 'go on where somebody stopped'],
      ]),
    )
    .action(on(() => import('./commands/workspaces/work.ts')));
  program
    .command('tend')
    .description('Make removed worktrees smaller, empty old trash, keep worktrees ready. Runs by itself.')
    .option('--json', 'print { "thinned", "deleted", "pool" }')
    .action(on(() => import('./commands/workspaces/tend.ts')));
}

function addWorktreesCommand(program: Command, on: On): void {
  program
    .command('worktrees')
    .description('List the worktrees of tasks on this machine.')
    .option('--all', 'also those that wait in the pool and those that Copse did not make')
    .option('--json', 'print { "worktrees": [...] }')
    .action(on(() => import('./commands/workspaces/worktrees.ts')));
}

function addWorktreeCommands(program: Command, on: On): void {
  program
    .command('cleanup')
    .argument('[id]', 'a task; without one, all that are done or cancelled')
    .description('Remove worktrees. What is not committed is rescued first; copse undo takes it back.')
    .option('--force', 'do not ask, and end the agent; the rescue is taken all the same')
    .option('--delete-branch', 'delete its branch too, although it is not merged')
    .option('--json', 'print { "removed": [...], "kept": [...] }')
    .addHelpText('after', examples([['copse cleanup a1b2 --force', '']]))
    .action(on(() => import('./commands/workspaces/cleanup.ts')));
  program
    .command('sync')
    .argument('[id]', 'a task (default: the one whose worktree you are in)')
    .description('Bring the newest base into the branch of a task.')
    .option('--conflict', 'leave a conflict in the worktree, to be resolved there')
    .option('--json', 'print what happened as JSON')
    .action(on(() => import('./commands/workspaces/sync.ts')));
  program
    .command('diff')
    .argument('[id]', 'a task (default: the one whose worktree you are in)')
    .description('Show what the branch of a task changes.')
    .option('--stat', 'only which files, and how many lines')
    .option('--uncommitted', 'with what is not committed yet')
    .option('--json', 'print the files and the patch as JSON')
    .addHelpText('after', examples([['copse diff a1b2 > a1b2.patch', 'as git apply reads it']]))
    .action(on(() => import('./commands/workspaces/diff.ts')));
}

function addReportCommands(program: Command, on: On): void {
  const id = '[id]';
  const about = 'a task (default: the one whose worktree you are in)';
  program
    .command('finish')
    .argument(id, about)
    .description('Say that the work on a task is finished and committed. An agent stops after this.')
    .option('--no-changes', 'there was nothing to do')
    .option('--summary <text>', 'what was done, in a line or two')
    .option('--json', 'print what was reported as JSON')
    .addHelpText(
      'after',
      examples([
        ['copse finish --summary "Refuse empty tokens"', ''],
        ['copse finish --no-changes', 'it was done already'],
      ]),
    )
    .action(on(() => import('./commands/agents/finish.ts')));
  program
    .command('stuck')
    .argument(id, about)
    .description('Say that only a person can decide how to go on. An agent stops after this.')
    .option('--reason <text>', 'the question, and the choices you see (- for standard input)')
    .option('--json', 'print what was reported as JSON')
    .addHelpText('after', examples([['copse stuck --reason "Delete the old table, or keep both?"', '']]))
    .action(on(() => import('./commands/agents/stuck.ts')));
  program
    .command('phase')
    .argument('<phase>', openPhases.join(', '))
    .argument(id, about)
    .description('Say how far the work on a task is. Phases go forward only.')
    .option('--json', 'print { "task", "phase" }')
    .addHelpText('after', examples([['copse phase working', '']]))
    .action(on(() => import('./commands/agents/phase.ts')));
  program
    .command('heartbeat')
    .argument(id, about)
    .description('Say that the work on a task is still going on.')
    .option('--json', 'print { "task", "alive" }')
    .addHelpText('after', examples([['copse heartbeat', 'in work that takes long']]))
    .action(on(() => import('./commands/agents/heartbeat.ts')));
  program
    .command('hook', { hidden: true })
    .argument('<kind>', 'stop, permission or notice')
    .description('Ask the runner for the hook of an agent program, which is on standard input.')
    .option('--timeout <seconds>', 'how long to wait for an answer')
    .action(on(() => import('./commands/agents/hook.ts')));
}

function addRescueCommands(program: Command, on: On): void {
  const rescue = program
    .command('rescue')
    .description('What was saved before a worktree was removed or reset.');
  rescue
    .command('list')
    .argument('[id]', 'only those of this task')
    .description('List the rescues, the latest first.')
    .option('--json', 'print { "rescues": [...] }')
    .action(on(() => import('./commands/workspaces/rescue-list.ts')));
  rescue
    .command('show')
    .argument('<ref>', 'a rescue, by any part of its ref that no other has')
    .description('Show what a rescue holds.')
    .option('--json', 'print the rescue and its changes as JSON')
    .action(on(() => import('./commands/workspaces/rescue-show.ts')));
  rescue
    .command('restore')
    .argument('<ref>', 'a rescue, by any part of its ref that no other has')
    .description('Put a rescue back, never over anything newer.')
    .option('--into <folder>', 'a checkout of this repository (default: the worktree of its task)')
    .option('--json', 'print where and how much as JSON')
    .action(on(() => import('./commands/workspaces/rescue-restore.ts')));
  rescue
    .command('move')
    .argument('<id>', 'the task whose worktree they belong in')
    .argument(
      '[paths...]',
      'files of the main checkout (default: those that its session is known to have changed)',
    )
    .description('Move changes that were made in the main checkout into the worktree of a task.')
    .option('--json', 'print what was moved and what was left as JSON')
    .action(on(() => import('./commands/workspaces/rescue-move.ts')));
  program
    .command('undo')
    .argument('[id]', 'a task (default: whatever worktree was last)')
    .description(
      'Take back what a task landed, or the last removal or reset of a worktree, every file of it.',
    )
    .option('--dry-run', 'of a landing: only show what would be taken back')
    .option('--worktree', 'of a task that has landed: bring back its worktree instead')
    .option('--json', 'print what is back, or what is taken back, as JSON')
    .addHelpText(
      'after',
      '\nWhat landed is taken back by a task of its own that lands through the queue, and can be undone in turn.',
    )
    .action(on(() => import('./commands/workspaces/undo.ts')));
}

function addSetUpCommands(program: Command, on: On): void {
  program
    .command('config')
    .argument('[what]', 'show, check, schema or accept-remotes', 'show')
    .description(
      'Show the configuration in force, check copse.yml, print its JSON Schema, or accept new remotes.',
    )
    .option('--json', 'print it as JSON')
    .action(on(() => import('./commands/setup/config.ts')));
  program
    .command('doctor')
    .description('Check this machine, this repository and its board.')
    .option('--json', 'print { "checks": [...] }')
    .action(on(() => import('./commands/setup/doctor.ts')));
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .description('Print a completion script for your shell.')
    .addHelpText('after', examples([['source <(copse completion bash)', 'in ~/.bashrc']]))
    .action(on(() => import('./commands/setup/completion.ts')));
}

/** `plan show`, by the names that commands have and not by their aliases. */
function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}
