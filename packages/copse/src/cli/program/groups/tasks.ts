/** Commands that change tasks, plans and the ledger. */

import { sizeText } from '../../../explain/rules/amounts.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';
import { ledgerKinds } from '../../../tasks/rules/ledger.ts';
import { planOperations } from '../../../operations/plans/group.ts';
import { taskOperations } from '../../../operations/tasks/group.ts';
import type { CopseCommand } from '../command.ts';
import { type CommandEntry, type On, byComma, withDefinition, taskHere } from '../parts.ts';

const { artifacts } = defaultPolicy;

export const tasksCommands: readonly CommandEntry[] = [
  { names: ['edit'], add: addEdit },
  { names: ['delete', 'rm'], add: addDelete },
  { names: ['plan', 'prd'], add: addPlan },
  { names: ['ledger'], add: addLedger },
  { names: ['artifact'], add: addArtifact },
];

function addEdit(program: CopseCommand, on: On): void {
  withDefinition(program.command('edit').argument('<id>', 'a task id, or the unique beginning of one'))
    .description(taskOperations.edit.description)
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
    .details('New areas, capabilities and accept commands replace the old ones; new dependencies are added.')
    .examples([
      ['copse edit a1b2 --priority p5 --depends cp-c3d4', ''],
      ['copse edit a1b2 --title "Rename the loader" --no-area', ''],
    ])
    .action(on(() => import('../../commands/tasks/edit.ts')));
}

function addDelete(program: CopseCommand, on: On): void {
  program
    .command('delete')
    .alias('rm')
    .argument('<ids...>', 'task ids, or unique beginnings of them')
    .description(taskOperations.delete.description)
    .option('--unlink', 'delete them even if other tasks depend on them, and remove those dependencies')
    .option('--keep-worktree', 'leave their worktrees as they are')
    .option('--yes', 'do not ask; needed without a terminal')
    .option('--json', 'print { "deleted": [...] }')
    .details(
      'Uncommitted files are rescued first, and copse undo --worktree brings a worktree back.\nBranches with commits that did not land stay. The events of the tasks stay on the board.',
    )
    .examples([
      ['copse delete a1b2 c3d4', ''],
      ['copse delete a1b2 --keep-worktree --yes', 'in a script'],
    ])
    .action(on(() => import('../../commands/tasks/delete.ts')));
}

function addPlan(program: CopseCommand, on: On): void {
  const plan = program.command('plan').alias('prd').description('Plans: documents that group tasks.');
  plan
    .command('add')
    .argument('<title...>', 'the title of the plan')
    .description(planOperations.planAdd.description)
    .option('--body <text>', 'the text of the plan')
    .option('--body-file <file>', 'the text of the plan, from a file (- for standard input)')
    .option('--json', 'print the plan as JSON')
    .examples([
      ['copse plan add "Passwordless login" --body-file plans/login.md', ''],
      ['copse plan add "Faster start" --body "Every command in 50 ms"', ''],
    ])
    .action(on(() => import('../../commands/plans/plan-add.ts')));
  plan
    .command('show')
    .argument('<id>', 'a plan id, or the unique beginning of one')
    .description(planOperations.planShow.description)
    .option('--json', 'print the plan as JSON')
    .examples([
      ['copse plan show pl-a1b2', ''],
      ['copse plan show pl-a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/plans/plan-show.ts')));
  plan
    .command('list')
    .description(planOperations.planList.description)
    .option('--json', 'print { "plans": [...] }')
    .examples([
      ['copse plan list', ''],
      ['copse plan list --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/plans/plan-list.ts')));
}

function addLedger(program: CopseCommand, on: On): void {
  const ledger = program
    .command('ledger')
    .description('Notes of a task: learnings, decisions, handoffs, crashes.');
  ledger
    .command('add')
    .argument('<kind>', ledgerKinds.join(', '))
    .argument('<text...>', 'what the next agent should know (- for standard input)')
    .description(planOperations.ledgerAdd.description)
    .option('--task <id>', 'the task (default: the task of the current worktree)')
    .option('--json', 'print the entry as JSON')
    .examples([
      ['copse ledger add learning "Migrations must run before the tests" --task a1b2', ''],
      ['copse ledger add handoff "The parser is done, the printer is not"', 'in its worktree'],
    ])
    .action(on(() => import('../../commands/plans/ledger-add.ts')));
  ledger
    .command('list')
    .argument('[id]', taskHere)
    .description(planOperations.ledgerList.description)
    .option('--task <id>', 'the same as the argument')
    .option('--json', 'print { "entries": [...] }')
    .examples([
      ['copse ledger list a1b2', ''],
      ['copse ledger list a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/plans/ledger-list.ts')));
}

function addArtifact(program: CopseCommand, on: On): void {
  const artifact = program
    .command('artifact')
    .description('Results of a task: commits, patches, files, URIs.');
  artifact
    .command('add')
    .argument(
      '<file-or-uri>',
      'a file, which is copied, or a URI, which is kept as text (write ./x:y for a file with a colon)',
    )
    .description(planOperations.artifactAdd.description)
    .option('--title <text>', 'what it is, in one line')
    .option('--task <id>', 'the task (default: the task of the current worktree)')
    .option('--json', 'print the artifact as JSON')
    .details(
      `A file may be at most ${sizeText(artifacts.fileBytes)}, all files of a task ${sizeText(artifacts.taskBytes)}, and a task at most ${artifacts.perTask} artifacts. Files stay on this machine. Copse never opens a URI.\nAn agent can add artifacts only to its own task, and only files from its worktree (from its folder, if the task has no worktree).`,
    )
    .examples([
      ['copse artifact add report.pdf --task a1b2 --title "Load test"', ''],
      ['copse artifact add https://example.com/plot.png', 'in its worktree'],
    ])
    .action(on(() => import('../../commands/artifacts/add.ts')));
  artifact
    .command('list')
    .argument('[id]', taskHere)
    .description(planOperations.artifactList.description)
    .option('--all', 'the artifacts of all tasks (default outside a worktree)')
    .option('--json', 'print { "artifacts": [...] }')
    .examples([
      ['copse artifact list a1b2', ''],
      ['copse artifact list --all --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/artifacts/list.ts')));
  artifact
    .command('show')
    .argument('<artifact>', anArtifact)
    .description(planOperations.artifactShow.description)
    .option('--json', 'print the artifact as JSON')
    .examples([
      ['copse artifact show ar-a1b2', ''],
      ['copse artifact show ar-a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/artifacts/show.ts')));
  artifact
    .command('get')
    .argument('<artifact>', anArtifact)
    .argument('[file]', 'where to write it (default: -, standard output)')
    .description('Write the content of an artifact to a file or to standard output.')
    .option('--force', 'replace the file if it exists')
    .option('--after <byte>', 'with --json: the content after this byte, the "next" of the last page')
    .option('--json', 'print { "artifact", "bytes", "content", "next" }: a page, in base64')
    .details('Copse checks the hash first. Only the machine that added the artifact has the content.')
    .examples([
      ['copse artifact get ar-a1b2 report.pdf', ''],
      ['copse artifact get ar-a1b2 > report.pdf', ''],
    ])
    .action(on(() => import('../../commands/artifacts/get.ts')));
}

const anArtifact = 'an artifact id, or the unique beginning of one';
