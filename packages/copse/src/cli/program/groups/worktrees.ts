/** Commands about worktrees and rescues. */

import { worktreeOperations } from '../../../operations/worktrees/group.ts';
import type { CopseCommand } from '../command.ts';
import type { CommandEntry, On } from '../parts.ts';

export const worktreesCommands: readonly CommandEntry[] = [
  { names: ['work'], add: addWork },
  { names: ['worktrees'], add: addWorktrees },
  { names: ['switch'], add: addSwitch },
  { names: ['diff'], add: addDiff },
  { names: ['sync'], add: addSync },
  { names: ['cleanup'], add: addCleanup },
  { names: ['undo'], add: addUndo },
  { names: ['rescue'], add: addRescue },
  { names: ['sweep'], add: addSweep },
  { names: ['tend'], add: addTend },
];

function addWork(program: CopseCommand, on: On): void {
  program
    .command('work')
    .argument('[id]', 'a task (default: choose among the ready tasks)')
    .description(worktreeOperations.work.description)
    .option('--resume', 'continue in its existing worktree')
    .option('--reset', 'start over from the base; its contents are rescued first')
    .option('--json', 'print { "task", "worktree", "branch", "base", "reused", … }')
    .examples([
      ['copse work', 'choose a task that is ready'],
      ['copse work a1b2 --resume', 'continue in its worktree'],
    ])
    .action(on(() => import('../../commands/workspaces/work.ts')));
}

function addWorktrees(program: CopseCommand, on: On): void {
  program
    .command('worktrees')
    .description(worktreeOperations.list.description)
    .option('--all', 'also pooled worktrees and worktrees not created by Copse')
    .option('--size', 'show their sizes on disk (measures for at most 2 s)')
    .option('--json', 'print { "worktrees": [...] }')
    .details(
      [
        'ACTIVE: an agent or a person works in it.',
        'IDLE: no agent or person works in it.',
        'COMMITTED: all of its work is committed, and has not landed.',
        'MERGED: all its commits landed.',
        'KEPT: its task needs attention; Copse does not remove it before you act (copse why <id>).',
        'LEFT OVER: its task is done, cancelled or deleted, and Copse has not removed it yet.',
        'MISSING: its folder was deleted.',
        'NO FOLDER: only a branch, made by copse undo.',
        'BROKEN: git no longer knows it as a worktree of this repository.',
      ].join('\n'),
    )
    .examples([
      ['copse worktrees --all', ''],
      ['copse worktrees --size', 'which ones fill the disk'],
    ])
    .action(on(() => import('../../commands/workspaces/worktrees.ts')));
}

function addSwitch(program: CopseCommand, on: On): void {
  program
    .command('switch')
    .argument('[id]', 'a task, or main for the main checkout (default: choose)')
    .description('Change to the worktree of a task, or print its folder.')
    .option('--json', 'print { "worktree" }')
    .details(
      'With the shell function that `copse shell-init` prints, your shell changes to the folder. Without it, the command only prints the folder.',
    )
    .examples([
      ['copse switch a1b2', ''],
      ['cd "$(copse switch a1b2)"', 'without the shell function'],
    ])
    .action(on(() => import('../../commands/workspaces/switch.ts')));
}

function addDiff(program: CopseCommand, on: On): void {
  program
    .command('diff')
    .argument('[id]', 'a task (default: the task of the current worktree)')
    .description(worktreeOperations.diff.description)
    .option('--stat', 'only the files and numbers of lines')
    .option('--name-only', 'only the names of the files')
    .option('--tool [name]', 'open your diff tool (default: diff.tool of your global git settings)')
    .option('--uncommitted', 'include uncommitted changes')
    .option('--json', 'print the files and the patch as JSON')
    .details(
      'Copse takes the pager from GIT_PAGER, core.pager in your global git settings, or PAGER. It ignores git settings of the repository, because agents can write them.',
    )
    .examples([
      ['copse diff a1b2', 'on a terminal with colours, in your pager'],
      ['copse diff a1b2 --stat', 'which files, and how many lines'],
      ['copse diff a1b2 > a1b2.patch', 'for git apply'],
    ])
    .action(on(() => import('../../commands/workspaces/diff.ts')));
}

function addSync(program: CopseCommand, on: On): void {
  program
    .command('sync')
    .argument('[id]', 'a task (default: the task of the current worktree)')
    .description(worktreeOperations.sync.description)
    .option('--conflict', 'leave a conflict in the worktree, to resolve it there')
    .option('--json', 'print the result as JSON')
    .examples([
      ['copse sync', 'in a worktree'],
      ['copse sync a1b2 --conflict', 'to resolve a conflict by hand'],
    ])
    .action(on(() => import('../../commands/workspaces/sync.ts')));
}

function addCleanup(program: CopseCommand, on: On): void {
  program
    .command('cleanup')
    .argument('[id]', 'a task (default: all done or cancelled tasks)')
    .description(worktreeOperations.cleanup.description)
    .option('--yes', 'do not ask; uncommitted files are still rescued')
    .option('--force', 'the same as --yes, and stop its agent')
    .option(
      '--delete-branch',
      'also delete a branch with unmerged commits (a merged branch is always deleted)',
    )
    .option('--json', 'print { "removed": [...], "kept": [...] }')
    .examples([
      ['copse cleanup', 'the worktrees of done and cancelled tasks'],
      ['copse cleanup a1b2 --yes', 'without a question'],
    ])
    .action(on(() => import('../../commands/workspaces/cleanup.ts')));
}

function addUndo(program: CopseCommand, on: On): void {
  program
    .command('undo')
    .argument('[id]', 'a task (default: the latest removed or reset worktree)')
    .description('Undo a landing, or the removal or reset of a worktree.')
    .option('--dry-run', 'for a landing: only show what would be reverted')
    .option('--worktree', 'for a landed task: bring back its worktree instead')
    .option('--json', 'print the result as JSON')
    .details(
      'To undo a landing, Copse adds a task that lands a revert through the queue. You can undo that task too.',
    )
    .examples([
      ['copse undo', 'the latest removal or reset'],
      ['copse undo a1b2 --dry-run', 'what undoing a landing would revert'],
    ])
    .action(on(() => import('../../commands/workspaces/undo.ts')));
}

function addRescue(program: CopseCommand, on: On): void {
  const rescue = program.command('rescue').description('Snapshots of worktrees that were removed or reset.');
  rescue
    .command('list')
    .argument('[id]', 'only rescues of this task')
    .description(worktreeOperations.rescueList.description)
    .option('--json', 'print { "rescues": [...] }')
    .examples([
      ['copse rescue list', ''],
      ['copse rescue list a1b2', 'of one task'],
    ])
    .action(on(() => import('../../commands/workspaces/rescue/list.ts')));
  rescue
    .command('show')
    .argument('<ref>', 'the ref of a rescue, or a unique part of it')
    .description(worktreeOperations.rescueShow.description)
    .option('--json', 'print the rescue and its changes as JSON')
    .examples([
      ['copse rescue show cp-a1b2', ''],
      ['copse rescue show cp-a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/workspaces/rescue/show.ts')));
  rescue
    .command('restore')
    .argument('<ref>', 'the ref of a rescue, or a unique part of it')
    .description(worktreeOperations.rescueRestore.description)
    .option('--into <folder>', 'a checkout of this repository (default: the worktree of its task)')
    .option('--json', 'print the folder and the number of files as JSON')
    .examples([
      ['copse rescue restore cp-a1b2', 'into its worktree'],
      ['copse rescue restore cp-a1b2 --into .', 'into the current checkout'],
    ])
    .action(on(() => import('../../commands/workspaces/rescue/restore.ts')));
  rescue
    .command('move')
    .argument('<id>', 'the task whose worktree gets the files')
    .argument(
      '[paths...]',
      'files of the main checkout (default: the files that the task’s agent changed there)',
    )
    .description(worktreeOperations.rescueMove.description)
    .option('--json', 'print the moved and the remaining files as JSON')
    .examples([
      ['copse rescue move a1b2 src/login.ts', 'this file'],
      ['copse rescue move a1b2', 'the files that the task’s agent changed there'],
    ])
    .action(on(() => import('../../commands/workspaces/rescue/move.ts')));
}

function addSweep(program: CopseCommand, on: On): void {
  program
    .command('sweep')
    .description(worktreeOperations.sweep.description)
    .option('--dry-run', 'only show what would go, why, and where its content is kept')
    .option('--verbose', 'also show what stays, and why')
    .option('--json', 'print { "dryRun", "budget", "items": [...] }')
    .details(
      'An orchestrator does the same at its start and every 6 hours (`maintenance` in copse.yml). Uncommitted files are rescued first, unmerged branches stay, and `copse undo <id> --worktree` brings a worktree back for 7 days.',
    )
    .examples([
      ['copse sweep --dry-run', 'what would go'],
      ['copse sweep --dry-run --verbose', 'also what stays'],
    ])
    .action(on(() => import('../../commands/workspaces/sweep.ts')));
}

function addTend(program: CopseCommand, on: On): void {
  program
    .command('tend')
    .description('Free disk space and refill the worktree pool.')
    .option('--json', 'print { "thinned", "deleted", "pool" }')
    .examples([
      ['copse tend', 'Copse also runs it in the background'],
      ['copse tend --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/workspaces/tend.ts')));
}
