/** Commands about worktrees and rescues. */

import type { CopseCommand } from '../command.ts';
import type { CommandEntry, On } from '../parts.ts';

export const worktreesCommands: readonly CommandEntry[] = [
  { names: ['work'], add: addWork },
  { names: ['worktrees'], add: addWorktrees },
  { names: ['diff'], add: addDiff },
  { names: ['sync'], add: addSync },
  { names: ['cleanup'], add: addCleanup },
  { names: ['undo'], add: addUndo },
  { names: ['rescue'], add: addRescue },
  { names: ['tend'], add: addTend },
];

function addWork(program: CopseCommand, on: On): void {
  program
    .command('work')
    .argument('[id]', 'a task (default: choose among the ready tasks)')
    .description('Take a task and create a worktree for it.')
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
    .description('List the worktrees of tasks on this machine.')
    .option('--all', 'also pooled worktrees and worktrees not created by Copse')
    .option('--size', 'their sizes on the disk, counted for at most 2 s')
    .option('--json', 'print { "worktrees": [...] }')
    .examples([
      ['copse worktrees --all', ''],
      ['copse worktrees --size', 'which ones fill the disk'],
    ])
    .action(on(() => import('../../commands/workspaces/worktrees.ts')));
}

function addDiff(program: CopseCommand, on: On): void {
  program
    .command('diff')
    .argument('[id]', 'a task (default: the task of the current worktree)')
    .description('Show the changes of a task’s branch.')
    .option('--stat', 'only the files and numbers of lines')
    .option('--uncommitted', 'include uncommitted changes')
    .option('--json', 'print the files and the patch as JSON')
    .examples([['copse diff a1b2 > a1b2.patch', 'for git apply']])
    .action(on(() => import('../../commands/workspaces/diff.ts')));
}

function addSync(program: CopseCommand, on: On): void {
  program
    .command('sync')
    .argument('[id]', 'a task (default: the task of the current worktree)')
    .description('Bring the newest base into the branch of a task.')
    .option('--conflict', 'leave a conflict in the worktree, to resolve it there')
    .option('--json', 'print the result as JSON')
    .examples([['copse sync a1b2', '']])
    .action(on(() => import('../../commands/workspaces/sync.ts')));
}

function addCleanup(program: CopseCommand, on: On): void {
  program
    .command('cleanup')
    .argument('[id]', 'a task (default: all done or cancelled tasks)')
    .description('Remove worktrees; copse undo brings them back.')
    .option('--yes', 'do not ask; uncommitted files are still rescued')
    .option('--force', 'as --yes, and end its agent')
    .option('--delete-branch', 'also delete its branch, even if it is not merged')
    .option('--json', 'print { "removed": [...], "kept": [...] }')
    .examples([['copse cleanup a1b2 --force', '']])
    .action(on(() => import('../../commands/workspaces/cleanup.ts')));
}

function addUndo(program: CopseCommand, on: On): void {
  program
    .command('undo')
    .argument('[id]', 'a task (default: the latest removed or reset worktree)')
    .description('Undo a landing, or the removal or reset of a worktree.')
    .option('--dry-run', 'of a landing: only show what would be reverted')
    .option('--worktree', 'of a landed task: bring back its worktree instead')
    .option('--json', 'print the result as JSON')
    .details('A landing is undone by a new task that lands through the queue, and can be undone as well.')
    .examples([['copse undo a1b2 --dry-run', '']])
    .action(on(() => import('../../commands/workspaces/undo.ts')));
}

function addRescue(program: CopseCommand, on: On): void {
  const rescue = program.command('rescue').description('Snapshots of worktrees that were removed or reset.');
  rescue
    .command('list')
    .argument('[id]', 'only rescues of this task')
    .description('List the rescues, the latest first.')
    .option('--json', 'print { "rescues": [...] }')
    .examples([['copse rescue list a1b2', '']])
    .action(on(() => import('../../commands/workspaces/rescue-list.ts')));
  rescue
    .command('show')
    .argument('<ref>', 'a rescue: its ref, or a part of it that no other rescue has')
    .description('Show the contents of a rescue.')
    .option('--json', 'print the rescue and its changes as JSON')
    .examples([['copse rescue show cp-a1b2', '']])
    .action(on(() => import('../../commands/workspaces/rescue-show.ts')));
  rescue
    .command('restore')
    .argument('<ref>', 'a rescue: its ref, or a part of it that no other rescue has')
    .description('Restore a rescue; newer files are never overwritten.')
    .option('--into <folder>', 'a checkout of this repository (default: the worktree of its task)')
    .option('--json', 'print the folder and the number of files as JSON')
    .examples([['copse rescue restore cp-a1b2 --into .', '']])
    .action(on(() => import('../../commands/workspaces/rescue-restore.ts')));
  rescue
    .command('move')
    .argument('<id>', 'the task whose worktree gets the files')
    .argument('[paths...]', 'files of the main checkout (default: the files that its session changed)')
    .description('Move changes from the main checkout into a worktree.')
    .option('--json', 'print the moved and the remaining files as JSON')
    .examples([['copse rescue move a1b2 src/login.ts', '']])
    .action(on(() => import('../../commands/workspaces/rescue-move.ts')));
}

function addTend(program: CopseCommand, on: On): void {
  program
    .command('tend')
    .description('Free disk space and refill the worktree pool.')
    .option('--json', 'print { "thinned", "deleted", "pool" }')
    .examples([['copse tend', 'Copse also runs it in the background']])
    .action(on(() => import('../../commands/workspaces/tend.ts')));
}
